"""Everything in the tree: RoundTrip.py TEXT-TOOL TF-LLC TREE

The script finds the files itself: every .tir, each piece of a split file by itself, every .py that is an input of a test, the
```python blocks with a kernel of every manual (.md), and random programs (fixed seed) made here. Of each piece

* text-tool: what parses reads back from its print as an equal module that prints the same;
* tf-llc: it passes --verify-only, and so does what --emit=tir prints, which --emit=tir prints again as it is.

A piece that says `expected-error` or `# error [` may be refused, in any stage, with status 1; what its messages are is for the
test that the piece belongs to."""
import os
import random
import re
import subprocess
import sys
import tempfile

TOOL, TF_LLC, TREE = sys.argv[1:4]
SEPARATOR = "# -----\n"


def pieces(path):
    text = open(path, encoding="utf-8", errors="surrogateescape", newline="").read()
    if path.endswith(".md"):
        blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
        return [block for block in blocks if "@prim_func" in block]
    if path.endswith(".py") and not re.search(r"^(import|from) tilefoundry", text, flags=re.M):
        return []  # a script of a test
    if "--split-input-file" not in text:
        return [text]
    return re.split(r"^# -----.*$", text, flags=re.M)


def is_ours(folder, file):
    return file.endswith((".tir", ".md")) or (file.endswith(".py") and os.path.basename(folder) == "Inputs" and "lit" in folder)


def refusal_expected(text):
    return re.search(r"expected-error|# error \[", text) is not None


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
        f.write(text)
    return path


def run(texts):
    """Indices of the texts that fail, with what was said. One process for many; one each when something fails."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(folder, f"{i}.tir", text) for i, text in enumerate(texts)]
        if subprocess.run([TOOL, "roundtrip"] + paths, capture_output=True).returncode == 0:
            return []
        out = []
        for i, path in enumerate(paths):
            result = subprocess.run([TOOL, "roundtrip", path], capture_output=True, text=True, errors="replace")
            if result.returncode:
                out.append((i, result.returncode, result.stderr))
        return out


# ---- tf-llc ----
def tf_llc(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "all.tir", text)
        return subprocess.run([TF_LLC, *options, "--split-input-file", path], capture_output=True, text=True, errors="surrogateescape")


def one_by_one(names, texts, what, good):
    """After a failure of all together: which ones."""
    bad = 0
    for name, text in zip(names, texts):
        result, fine = good(text)
        if not fine:
            bad += 1
            print(f"{name}: {what}\n{result.stderr[-1500:] or result.stdout[-1500:]}")
    return bad


def check_tool(names, texts):
    """The number of pieces that fail. All of them go through one process, as parts of one file."""
    whole = SEPARATOR.join(text + ("" if text.endswith("\n") else "\n") for text in texts)
    bad = 0

    def verified(text):
        result = tf_llc(text, "--verify-only")
        return result, result.returncode == 0

    def fixed(text):
        first = tf_llc(text, "--emit=tir")
        second = tf_llc(first.stdout, "--emit=tir")
        return second, first.returncode == 0 and second.returncode == 0 and second.stdout == first.stdout

    if not verified(whole)[1]:
        bad += one_by_one(names, texts, "refused by --verify-only", verified) or 1
    if not fixed(whole)[1]:
        bad += one_by_one(names, texts, "--emit=tir does not print its own print", fixed) or 1
    if not bad and not verified(tf_llc(whole, "--emit=tir").stdout)[1]:
        bad += one_by_one(names, texts, "what is printed is refused", lambda text: verified(tf_llc(text, "--emit=tir").stdout)) or 1
    return bad


# ---- random programs: every construct, nested; types fit, so that the parser accepts them ----
HEAD = '''from tilefoundry import *
from tilefoundry import T as tir
S = DimVar("S", 1, 65536)
N = 64
BLOCK = Mesh((Topology("thread", 128),), Layout((4, 32)), ("w", "t"))
'''
BUILTIN = ["add", "sub", "mul", "min", "max"]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = 0
        self.lines = []
        self.scope = [{"int": ["n"], "float": ["f", "h"], "bool": []}]
        self.meshes = []

    def pick(self, kind):
        names = [x for s in self.scope for x in s[kind]]
        return self.r.choice(names) if names else None

    def integer(self, depth):
        r, i = self.r, lambda: self.integer(depth - 1)
        if depth == 0 or r.random() < .2:
            atoms = [str(r.randrange(100)), str(-r.randrange(1, 9)), "S", "N", "T.shape_of(x, 0)", 'T.program_id("cta")', "(S + 3)", "S * 2", "ceildiv(S, 16)",
                     "DType.i64(7)", "DType.u64(0xFFFF_FFFF_FFFF_FFFF)", "0xFF"]
            if self.meshes:
                atoms += [f"T.coord({r.choice(self.meshes)}.{r.choice('wt')})", f"T.coord({r.choice(self.meshes)}, {r.randrange(2)})"]
            return self.pick("int") if r.random() < .4 else r.choice(atoms)
        k = r.randrange(8)
        if k < 4:
            op = r.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
            return f"({i()} {op} {'3' if op in ('<<', '>>') else r.choice([self.pick('int'), '3']) if op in ('//', '%') else i()})"
        if k == 4:
            return f"{r.choice(['min', 'max'])}({i()}, {i()})"
        if k == 5:
            return f"({r.choice(['-', '-', 'abs'])}({i()}))"
        if k == 6:
            return f"({i()} if {self.boolean(depth - 1)} else {i()})"
        return f'T.cast({i()}, "{r.choice(["i32", "i8", "u16"])}")'

    def floating(self, depth):
        r, x = self.r, lambda: self.floating(depth - 1)
        if depth == 0 or r.random() < .2:
            atoms = ["1.5", "-2.0", "1e-5", 'float("inf")', 'float("-inf")', f"T.load(x, {self.pick('int')}, 3)", "0.1", "-0.0", "DType.f16(0.5)", "DType.f64(0.1)"]
            return self.pick("float") if r.random() < .4 else r.choice(atoms)
        k = r.randrange(6)
        if k < 3:
            op = r.choice(["+", "-", "*", "/"])
            return f"({x()} {op} {r.choice('fh') if op == '/' else r.choice([x(), self.pick('int')])})"
        if k == 3:
            return f"{r.choice(['min', 'max'])}({x()}, {x()})"
        if k == 4:
            return f"({x()} if {self.boolean(depth - 1)} else {x()})"
        return f'T.cast({self.integer(depth - 1)}, "f32")'

    def boolean(self, depth):
        r = self.r
        if depth == 0:
            return f"{self.pick('int')} {r.choice(['<', '<=', '==', '!='])} {self.integer(0)}"
        k = r.randrange(6)
        if k == 0:
            return f"({self.boolean(depth - 1)} {r.choice(['and', 'or'])} {self.boolean(depth - 1)})"
        if k == 1:
            return f"(not {self.boolean(depth - 1)})"
        if k == 2:
            return f"({self.integer(depth - 1)} < {self.integer(depth - 1)} <= {self.pick('int')})"
        if k == 3:
            return f"({self.floating(depth - 1)} > {self.pick('float')})"
        if k == 4:
            return self.pick("bool") or "True"
        return f"({self.integer(depth - 1)} {r.choice(['<', '==', '>='])} {self.pick('int')})"

    def fresh(self):
        self.names += 1
        return self.r.choice(["a", "b", "v", "i", "lane", "row"]) + str(self.names)

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent, depth, names=None):
        self.scope.append({"int": [], "float": [], "bool": []} | (names or {}))
        for _ in range(self.r.randrange(1, 5)):
            self.statement(indent, depth)
        self.scope.pop()

    def bind(self, indent):
        kind, text = self.r.choice([("int", self.integer(3)), ("float", self.floating(3)), ("bool", self.boolean(2))])
        name = self.fresh()
        self.line(indent, f"{name} = {text}")
        self.scope[-1][kind].append(name)

    def effect(self, indent):
        r = self.r
        view = f"T.tensor_view(x, {self.integer(1)}, 0, shape=(1, 4), clip=-1)"
        self.line(indent, r.choice([
            f"T.fill(y, {self.floating(2)})",
            f"T.store(y, {self.floating(1)}, {self.pick('int')} % 5, 0)",
            f"T.copy({view}, T.tensor_view(y, 0, 0, shape=(1, 4), clip=0.0), loc=\"here\")",
            f"tir.binary(x, {self.floating(1)}, y, kind=BinaryKind.{r.choice(BUILTIN).upper()})",
            f"T.clamp(x, y, min_val=-1, max_val=float(\"inf\"))",
            f"T.reduce(x, y, axes=(-1,), kind={r.choice(['ReduceKind.MAX', chr(34) + 'abs_max' + chr(34)])})",
            f"copy_(x, y); T.cp_async_wait({r.randrange(3)})",
            f"T.select({self.boolean(1)}, x, 0.5, y)",
            f"helper(x, y, {r.choice(['3', '-1', self.pick('int') and '4'])}, {r.choice(['0.5', '2'])})",
            f"probe(x, {r.choice(['1', '(1, 2)', 'S'])})",
        ]))

    def statement(self, indent, depth):
        r = self.r
        k = r.randrange(10)
        if depth == 0 or k < 3:
            self.bind(indent)
        elif k < 6:
            self.effect(indent)
        elif k == 6:
            name = self.fresh()
            self.line(indent, f"for {name} in range({r.choice([self.integer(1), '0, ' + self.integer(1), self.integer(1) + ', 0, -1'])}):")
            self.block(indent + 1, depth - 1, {"int": [name]})
        elif k == 7:
            self.line(indent, f"if {self.boolean(2)}:")
            self.block(indent + 1, depth - 1)
            for _ in range(r.randrange(3)):
                self.line(indent, f"elif {self.boolean(1)}:")
                self.block(indent + 1, depth - 1)
            if r.random() < .5:
                self.line(indent, "else:")
                self.block(indent + 1, depth - 1)
        elif k == 8:
            self.line(indent, f"while {self.boolean(2)}:")
            self.block(indent + 1, depth - 1)
        else:
            name = self.fresh()
            mesh = r.choice(["BLOCK", "BLOCK[1:3, :]", "BLOCK[2]", 'Mesh((Topology("warp", 4), Topology("thread", 32)), Layout((4, 32)), ("w", "t"))'])
            self.line(indent, f"with {mesh} as {name}:")
            self.meshes.append(name)
            self.line(indent + 1, r.choice([f"T.sync({name})", f"s = T.alloc_tensor(TensorType((128,), \"f32\", 128 @ ({name}.w, {name}.t), rmem))"
                                            if mesh == "BLOCK" else f"T.sync({name})", f"T.sync({name}[0:1, :])" if "[" not in mesh else "pass"]))
            self.block(indent + 1, depth - 1)
            self.meshes.pop()

    def text(self):
        for _ in range(self.r.randrange(3, 9)):
            self.statement(1, 3)
        return (HEAD + '@intrinsic(ptx="nop;")\ndef probe(a: Expr, b: Expr) -> None:\n    assert a.dtype == DType.f32 and N > 3, "f32"\n\n'
                '@prim_func\ndef helper(x: Tensor[(S, 4), "f32"], y: Tensor[(S, 4), "f32"], c: Tensor[(), "i32"], d: Tensor[(), "f16"]):\n    pass\n\n'
                '@prim_func(target=CudaTarget("sm_90a"))\ndef k(x: Tensor[(S, 4), "f32"], y: Tensor[(S, 4), "f32"], n: Tensor[(), "i32"], f: Tensor[(), "f32"], h: Tensor[(), "bf16"]):\n'
                + "\n".join(self.lines) + "\n")


def main():
    names, texts = [], []
    for folder, folders, files in os.walk(TREE):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for file in sorted(files):
            if is_ours(folder, file):
                for i, piece in enumerate(pieces(os.path.join(folder, file))):
                    names.append(f"{os.path.join(folder, file)}#{i}")
                    texts.append(piece)
    files = len(texts)
    for seed in range(400):
        names.append(f"random program {seed}")
        texts.append(Program(seed).text())
    bad = refused = 0
    for i, status, said in run(texts):
        if refusal_expected(texts[i]) and status == 1 and "does not parse" in said and "printed text" not in said:
            refused += 1
            continue
        bad += 1
        print(f"{names[i]}: status {status}\n{said[-1500:]}")
    accepted = [i for i in range(files) if not refusal_expected(texts[i])]
    bad += check_tool([names[i] for i in accepted], [texts[i] for i in accepted])
    print(f"{files} pieces of files ({refused} refused as they say, {len(accepted)} verified), {len(texts) - files} random programs, {bad} bad")
    sys.exit(bad > 0 or len(accepted) < 150)


main()
