"""Every PTX text of the tests, judged by ptxas.

  assemble.py PTXAS FOLDER FILE…

FOLDER holds the texts that the unit tests of the simulated device have loaded (test/unit/Sim/PtxTexts.h): <hash>.ptx must
assemble for its own target, <hash>.bad must be refused. Every FILE must assemble too: of a .ptx file each part between lines
"// -----", of a Python or C file every string that is a module. Those with an instruction that nobody has, or that say
"// ptxas refuses", must be refused.

There are thousands of texts and a ptxas process takes longer than most of them. So texts of one version and target whose
only global name is their kernel are put into one module under numbered names; an error's line tells whose it is:

    .version 8.0                     two passes: all modules once with a wrong instruction at the end, which makes ptxas
    .target sm_90                    list every other error and stop early; then without it and in earnest.
    .visible .entry k_0(…) { … }
    .visible .entry k_1(…) { … }
"""
import ast
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

OLDEST, CHUNK, LONG, SKIPPED = 75, 120, 1 << 17, 77
WRONG = ".visible .entry last_() { wrong_instruction; }\n"
INVENTED = re.compile(r"\b(frobnicate|nonsense)\b|// ptxas refuses")
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
SCOPE = re.compile(r"\.(global|const|shared|extern|func|file|section|alias|weak|pragma)\b")


class Text:
    def __init__(self, name, text):
        self.name, self.text, self.bad, self.errors = name, text, name.endswith(".bad") or bool(INVENTED.search(text)), []
        code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n"), self.text, flags=re.S)
        head = re.match(r"\s*\.version\s+(\d+)\.(\d+)\s+\.target\s+(sm_(\d+)\w?)[^\n.]*\s*(\.address_size\s+64)?", code)
        self.readable = head is not None
        if not head:
            return
        self.version, self.target = (int(head[1]), int(head[2])), head[3]
        if int(head[4]) < OLDEST:  # targets that this ptxas has forgotten
            self.target, self.version = f"sm_{OLDEST}", max(self.version, (6, 3))
        self.body = code[head.end():]
        self.alone = not self.mergeable(head[5] is not None) or len(self.text) > LONG

    def mergeable(self, sized):
        """True if nothing but one kernel has a name outside of braces."""
        depth, outside = 0, []
        for piece in re.split(r"([{}])", self.body):
            depth += {"{": 1, "}": -1}.get(piece, 0)
            if depth == 0 and piece not in "{}":
                outside.append(piece)
        outside = "".join(outside)
        return sized and not SCOPE.search(outside) and outside.count(".entry") == 1

    def head(self):
        return f".version {self.version[0]}.{self.version[1]}\n.target {self.target}\n.address_size 64\n"

    def numbered(self, i):
        if self.alone:
            return self.body + "\n"
        return re.sub(r"(\.entry\s+)([\w$]+)", rf"\g<1>\g<2>_{i}", self.body, count=1) + "\n"


def strings_of_c(path):
    """The string literals of a C file, macros expanded and neighbours joined."""
    root = pathlib.Path(__file__).resolve().parents[2]
    includes = [f"-I{root / folder}" for folder in ("test/driver-api/own", "test/unit", "include", "lib")]
    done = subprocess.run(["cc", "-E", "-P", "-D_GNU_SOURCE", *includes, path], capture_output=True, text=True, check=True)
    return [ast.literal_eval("(" + m[0] + ")") for m in LITERALS.finditer(done.stdout) if ".version" in m[0]]


def texts_of(path):
    name, content = os.path.basename(path), pathlib.Path(path).read_text(errors="replace")
    if path.endswith(".py"):
        strings = [n.value for n in ast.walk(ast.parse(content)) if isinstance(n, ast.Constant)]
    elif path.endswith(".c"):
        strings = strings_of_c(path)
    else:
        return [Text(name, part) for part in content.split("\n// -----\n")]
    return [Text(name, s) for s in strings if isinstance(s, str) and s.startswith(".version") and (".entry" in s or ".func" in s)]


def modules(texts):
    """Lists of texts for one module each."""
    groups = {}
    for t in texts:
        key = (t.version, t.target, t if t.alone else None)
        groups.setdefault(key, []).append(t)
    for group in groups.values():
        for i in range(0, len(group), CHUNK):
            yield group[i:i + CHUNK]


def run(ptxas, target, source):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.ptx")
        pathlib.Path(path).write_text(source)
        command = [ptxas, "-O0", "-w", "-arch", target, "-o", os.path.join(folder, "m.cubin"), path]
        if ".extern .func" in source:  # to be linked
            command.append("-c")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def judge(ptxas, module, early):
    """Notes the errors of the module's texts in them."""
    lines, ends = 1 + module[0].head().count("\n"), []
    for i, t in enumerate(module):
        lines += t.numbered(i).count("\n")
        ends.append(lines)
    source = module[0].head() + "".join(t.numbered(i) for i, t in enumerate(module)) + (WRONG if early else "")
    status, output = run(ptxas, module[0].target, source)
    all_listed = "wrong_instruction" in output if early else status == 0
    for number, message in re.findall(r"line (\d+); (?:error|fatal) *: (.*)", output):
        if "wrong_instruction" not in message:
            owner = next((i for i, end in enumerate(ends) if int(number) < end), len(module) - 1)
            module[owner].errors.append(message)
    if all_listed or len(module) == 1:
        if not all_listed and not module[0].errors:
            module[0].errors.append(output.strip()[:300] or f"ptxas ends with {status}")
        return
    for t in module:  # it stopped at one of them: each for itself
        t.errors.clear()
        judge(ptxas, [t], early)


def main():
    ptxas, folder, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not os.path.exists(ptxas):
        print("no ptxas")
        sys.exit(SKIPPED)
    paths = sorted(os.path.join(folder, n) for n in os.listdir(folder)) + files
    texts = [t for path in paths for t in texts_of(path) if t.readable]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda m: judge(ptxas, m, True), modules(texts)))
        whole = [t for t in texts if not t.bad and not t.errors and len(t.text) <= LONG]
        list(pool.map(lambda m: judge(ptxas, m, False), modules(whole)))
    wrong = [t for t in texts if t.bad != bool(t.errors)]
    for t in wrong[:40]:
        print(f"{t.name}: {t.errors[0] if t.errors else 'ptxas accepts what must be refused'}\n{t.text[:1500]}\n")
    bad = sum(t.bad for t in texts)
    print(f"{len(texts) - bad} texts, {bad} to be refused: {len(wrong)} wrong")
    sys.exit(bool(wrong) or len(texts) < 1000)


main()
