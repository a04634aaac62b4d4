"""Random modules of host functions: text, what its functions take, and arguments.

A module has a few kernels of known effect, host functions that call them and each other, one that dispatches, and `main`. Bodies are made
of every statement that host code has; names are never bound twice, and loops end by construction. Some programs end with an error, in the
middle of their work: what they did until then counts, too.
"""
import random

import numpy as np

from model import DTYPES, Fault, decode, encode, rounded, wrapped

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "tf32", "f32", "f64", "fp8e4m3", "fp8e5m2"]

# ---- Kernels: text, parameters as model.bind takes them, effect ------------------------------------------------------

ADD = '''
    @prim_func(target=CudaTarget("sm_80"))
    def add(x: Tensor[(N,), "i32"], n: Tensor[(), "i32"]):
        with Mesh((Topology("cta", ceildiv(N, 32)), Topology("thread", 32)), Layout((ceildiv(N, 32), 32)), ("c", "t")) as m:
            i = T.coord(m.c) * 32 + T.coord(m.t)
            if i < N:
                T.store(x, T.load(x, i) + n, i)
'''
MIX = '''
    @prim_func(target=CudaTarget("sm_80"))
    def mix(x: ConstTensor[(N, 4), "i32"], y: Tensor[(N, 4), "i32"], k: Tensor[(), "u8"]):
        with Mesh((Topology("cta", N), Topology("thread", 4)), Layout((N, 4)), ("c", "t")) as m:
            T.store(y, T.load(y, T.coord(m.c), T.coord(m.t)) * 3 + T.load(x, T.coord(m.c), T.coord(m.t)) + k, T.coord(m.c), T.coord(m.t))
'''
ROWS = '''
    @prim_func(target=CudaTarget("sm_80"))
    def rows(x: Tensor[(3, 4), "i32", Layout((3, 4), (8, 1))], k: Tensor[(), "i64"]):
        with Mesh((Topology("thread", 12),), Layout((3, 4), (4, 1)), ("r", "c")) as m:
            T.store(x, T.load(x, T.coord(m.r), T.coord(m.c)) ^ k, T.coord(m.r), T.coord(m.c))
'''
SOME = '''
    @prim_func(target=CudaTarget("sm_80"))
    def some(x: Tensor[(N,), "i32"], k: Tensor[(), "i16"]):
        with Mesh((Topology("thread", 8),), Layout((8,)), ("t",)) as m:
            i = T.program_id("cta") * 8 + T.coord(m.t)
            if i < N:
                T.store(x, T.load(x, i) - k, i)
'''


def geometry(grid, block, ctas, threads):
    """Whether the launch runs at all."""
    if grid is None:
        return True
    if 0 in grid or 0 in block:
        return False
    if ctas is not None and np.prod(grid) != ctas:
        raise Fault("the grid is")
    if np.prod(block) != threads:
        raise Fault("the block is")
    return True


def change(x, function):
    values = [decode("i32", bits) for bits in x.read()]
    x.write([encode("i32", wrapped("i32", function(i, v))) for i, v in enumerate(values)])


def run_add(x, n, dims, grid, block):
    if geometry(grid, block, -(-dims["N"] // 32), 32):
        change(x, lambda i, v: v + n.value)


def run_mix(x, y, k, dims, grid, block):
    if geometry(grid, block, dims["N"], 4):
        other = x.read()
        change(y, lambda i, v: v * 3 + decode("i32", other[i]) + k.value)


def run_rows(x, k, dims, grid, block):
    if geometry(grid, block, None, 12):
        change(x, lambda i, v: v ^ k.value)


def run_some(x, k, dims, grid, block):
    if geometry(grid, block, None, 8):
        ctas = 1 if grid is None else int(np.prod(grid))
        change(x, lambda i, v: v - k.value if i < 8 * ctas else v)


KERNELS = {
    "add": (ADD, [("x", "i32", ("N",), None, False), ("n", "i32", None, None, False)], run_add),
    "mix": (MIX, [("x", "i32", ("N", 4), None, True), ("y", "i32", ("N", 4), None, False), ("k", "u8", None, None, False)], run_mix),
    "rows": (ROWS, [("x", "i32", (3, 4), (8, 1), False), ("k", "i64", None, None, False)], run_rows),
    "some": (SOME, [("x", "i32", ("N",), None, False), ("k", "i16", None, None, False)], run_some),
}

# ---- Bodies ----------------------------------------------------------------------------------------------------------


class Local:
    """A tensor that statements can use: name, dtype, shape of numbers, "N" and "2*N", storage, whether code may write it."""

    def __init__(self, name, dtype, shape, storage, const=False):
        self.name, self.dtype, self.shape, self.storage, self.const = name, dtype, shape, storage, const


def text_of(shape):
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def value_of(extent, n):
    return {"N": n, "2*N": 2 * n}.get(extent, extent)


def symbolic(shape):
    return any(isinstance(e, str) for e in shape)


class Body:
    def __init__(self, rng, module, tensors, scalars, extents):
        self.rng, self.module = rng, module
        self.tensors, self.ints, self.floats, self.bools = list(tensors), [], [], []
        for name, dtype in scalars:
            self.group(dtype).append(name)
        self.scalars = scalars
        self.extents = extents  # the value that N is likely to have
        self.depth = 0

    def group(self, dtype):
        return self.bools if dtype == "bool" else self.floats if DTYPES[dtype][0] == "f" else self.ints

    def fresh(self, stem):
        self.module.names += 1
        return f"{stem}{self.module.names}"

    def extent(self, e):
        return value_of(e, self.extents)

    # Scalars: text of an expression.

    def index(self, extent):
        """An index below the extent, most of the time."""
        n = self.extent(extent)
        pick = self.rng.random()
        if pick < 0.5 or not self.ints:
            return str(self.rng.randrange(max(n, 1)))
        if pick < 0.97:
            return f"{self.rng.choice(self.ints)} % {extent}" if n else "0"
        return self.rng.choice(self.ints)

    def load(self, kind):
        found = [t for t in self.tensors if t.storage == "host" and self.group(t.dtype) is kind and all(self.extent(e) for e in t.shape)]
        if not found:
            return None
        t = self.rng.choice(found)
        return f"T.load({t.name}, {', '.join(self.index(e) for e in t.shape)})"

    def leaf(self, kind, literals):
        options = list(kind) + literals
        if kind is self.ints:
            options += ["N"]
            options += [f"T.shape_of({t.name}, 0)" for t in self.tensors if t in self.module.params_of(self)][:1]
        loaded = self.load(kind)
        if loaded:
            options += [loaded, loaded]
        return self.rng.choice(options)

    def int(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            big = [str(rng.choice([2**62, -(2**63) + 1, 2**31, -(2**31), 2**40 + 3]))] if rng.random() < 0.04 else []
            return self.leaf(self.ints, [str(rng.randrange(-9, 40))] + big)
        a, b = self.int(depth - 1), self.int(depth - 1)
        form = rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "min", "max", "neg", "abs", "if", "cast", "float", "+", "-"])
        if form in ("//", "%"):
            return f"({a}) {form} {rng.choice(['7', '-3', '16', f'(({b}) | 1)', f'(({b}) | 1)', f'({b})'])}"
        if form in ("<<", ">>"):
            return f"(({a}) {form} {rng.choice(['2', '5', f'(({b}) & 15)', f'(({b}) & 63)', f'({b})' if rng.random() < 0.2 else '1'])})"
        if form in ("min", "max"):
            return f"{form}({a}, {b})"
        if form == "neg":
            return f"-({a})"
        if form == "abs":
            return f"abs({a})"
        if form == "if":
            return f"(({a}) + 0 if {self.bool(depth - 1)} else ({b}) + 0)"
        if form == "cast":
            return f'T.cast({a}, "{rng.choice(INTS)}")'
        if form == "float":
            return f'T.cast({self.float(depth - 1)}, "{rng.choice(INTS)}")'
        return f"(({a}) {form} ({b}))"

    def scalar(self):
        """An integer that the compiler does not know."""
        return self.rng.choice(self.ints) if self.ints else "T.shape_of(x, 0)"

    def float(self, depth=2):
        """Always of a floating dtype: a literal never stands beside another one."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            plain = self.leaf(self.floats, []) if self.floats or self.load(self.floats) else None
            return plain or f'T.cast({rng.choice(["0.1", "-2.5", "3", "1e30", "7.75"])}, "{rng.choice(FLOATS)}")'
        a, form = self.float(depth - 1), rng.choice(["+", "-", "*", "/", "//", "%", "min", "max", "neg", "abs", "cast", "int", "if"])
        b = rng.choice([self.float(depth - 1), str(rng.choice([0.1, -3.0, 0.5, 1e-8])), f"({self.int(depth - 1)})"])
        if form in ("min", "max"):
            return f"{form}({a}, {b})"
        if form == "neg":
            return f"-({a})"
        if form == "abs":
            return f"abs({a})"
        if form == "cast":
            return f'T.cast({a}, "{rng.choice(FLOATS)}")'
        if form == "int":
            return f'T.cast({self.int(depth - 1)}, "{rng.choice(FLOATS)}")'
        if form == "if":
            dtype = rng.choice(FLOATS)
            return f'(T.cast({a}, "{dtype}") if {self.bool(depth - 1)} else T.cast({self.float(depth - 1)}, "{dtype}"))'
        return f"(({a}) {form} {b})" if b[0] == "(" or b[0] not in "-" else f"(({a}) {form} ({b}))"

    def bool(self, depth=2):
        rng = self.rng
        if depth == 0:
            return self.leaf(self.bools, []) if (self.bools or self.load(self.bools)) and rng.random() < 0.5 else f"({self.int(0)}) + 0 < {self.int(0)}"
        form = rng.choice(["cmp", "cmp", "chain", "float", "and", "or", "not"])
        if form == "cmp":
            return f"({self.int(depth - 1)}) + 0 {rng.choice(['<', '<=', '>', '>=', '==', '!='])} ({self.int(depth - 1)})"
        if form == "chain":
            return f"({self.int(depth - 1)}) + 0 < ({self.int(depth - 1)}) + 0 <= ({self.int(depth - 1)}) + 0"
        if form == "float":
            return f"({self.float(depth - 1)}) {rng.choice(['<', '>=', '==', '!='])} ({self.float(depth - 1)})"
        if form == "not":
            return f"not ({self.bool(depth - 1)})"
        return f"(({self.bool(depth - 1)}) {form} ({self.bool(depth - 1)}))"

    def value(self, dtype):
        """A scalar that can be stored in a tensor of the dtype."""
        if dtype == "bool":
            return self.rng.choice(["True", "False", self.bool()])
        if DTYPES[dtype][0] == "f":
            return self.rng.choice([f'T.cast({self.float()}, "{dtype}")', f'T.cast({self.int()}, "{dtype}")', "2.5", "-0.0"])
        if dtype == "i64":
            return f"({self.int()}) + 0"
        return self.rng.choice([f'T.cast({self.int()}, "{dtype}")', f"({self.int()}) + 0", str(self.rng.randrange(100))])

    # Windows: lines that bind a view, and its name and shape.

    def window(self, t, lines, plain=False):
        """A window of t: (text, shape of numbers and "N")."""
        rng, shape = self.rng, t.shape
        form = rng.choice(["all", "window", "window", "row", "flat", "reshape", "turn"])
        static = not symbolic(shape)
        if form == "row" and len(shape) == 2:
            return f"T.tensor_view({t.name}, {self.name_of(self.index(shape[0]), lines)}, 0, shape=({shape[1]},))", (shape[1],)
        if form == "window" and all(self.extent(e) for e in shape):
            cut = [e if isinstance(e, str) and rng.random() < 0.6 else rng.randrange(1, self.extent(e) + 1) for e in shape]
            starts = ["0" if isinstance(c, str) else self.start(e, c, lines) for e, c in zip(shape, cut)]
            return f"T.tensor_view({t.name}, {', '.join(starts)}, shape={text_of(cut)})", tuple(cut)
        if form == "flat" and len(shape) == 2 and static:
            count = rng.randrange(1, shape[0] * shape[1] + 1)
            return f"T.tensor_view({t.name}, {self.start(shape[0] * shape[1], count, lines)}, shape=({count},))", (count,)
        if form == "reshape" and static and np.prod(shape) % 4 == 0:
            made = (4, int(np.prod(shape)) // 4)
            return f"T.tensor_view({t.name}, shape={made})", made
        if form == "turn" and len(shape) == 2 and static and not plain:
            return f"T.tensor_view({t.name}, layout=Layout({(shape[1], shape[0])}, (1, {shape[1]})))", (shape[1], shape[0])
        return t.name, shape

    def name_of(self, text, lines):
        if text.isdigit() or text.isidentifier():
            return text
        name = self.fresh("i")
        lines.append(f"{name} = {text}")
        return name

    def start(self, extent, cut, lines):
        room = self.extent(extent) - cut
        pick = self.rng.random()
        if pick < 0.5 or not self.ints:
            return str(self.rng.randrange(room + 1)) if not isinstance(extent, str) else "0"
        return self.name_of(f"{self.rng.choice(self.ints)} % {room + 1}" if pick < 0.95 else self.rng.choice(self.ints), lines)

    # Statements: lists of lines.

    def allocate(self, dtype, shape, storage):
        name = self.fresh("t")
        self.tensors.append(Local(name, dtype, shape, storage))
        return [f'{name} = T.alloc_tensor(TensorType({text_of(shape)}, "{dtype}", None, {storage}))', f"T.fill({name}, {self.literal(dtype)})"]

    def literal(self, dtype):
        return "True" if dtype == "bool" else "0.5" if dtype == "f8e8m0" else "1.5" if DTYPES[dtype][0] == "f" else str(self.rng.randrange(120))

    def let(self):
        name = self.fresh("s")
        kind = self.rng.choice(["int", "int", "float", "bool"])
        text = {"int": self.int, "float": self.float, "bool": self.bool}[kind]()
        lines = [f"{name} = {'(' + text + ') + 0' if kind == 'int' else text}"]
        {"int": self.ints, "float": self.floats, "bool": self.bools}[kind].append(name)
        return lines

    def store(self):
        t = self.rng.choice([t for t in self.tensors if not t.const])
        if not all(self.extent(e) for e in t.shape):
            return []
        lines = []
        index = [self.name_of(self.index(e), lines) for e in t.shape]
        return lines + [f"T.store({t.name}, {self.value(t.dtype)}, {', '.join(index)})"]

    def fill(self):
        lines, t = [], self.rng.choice([t for t in self.tensors if not t.const])
        text, _ = self.window(t, lines)
        return lines + [f"T.fill({text}, {self.value(t.dtype)})"]

    def copy(self):
        rng = self.rng
        pairs = [(a, b) for a in self.tensors for b in self.tensors if a is not b and a.dtype == b.dtype and not b.const and "gmem" in (a.storage, b.storage)]
        for a, b in rng.sample(pairs, min(len(pairs), 8)):
            lines = []
            x, shape = self.window(a, lines)
            y, other = self.window(b, lines)
            if sorted(map(str, shape)) == sorted(map(str, other)) or not symbolic(shape + other) and np.prod(shape) == np.prod(other):
                return lines + [f"T.copy({x}, {y})"]
            if len(a.shape) == len(b.shape) and not symbolic(a.shape + b.shape) and rng.random() < 0.5:
                cut = tuple(rng.randrange(1, max(e, f) + 3) for e, f in zip(a.shape, b.shape))
                one, two = ([self.name_of(rng.choice([str(rng.randrange(-2, e + 1)), rng.choice(self.ints or ["0"])]).replace("--", ""), lines) for e in t.shape] for t in (a, b))
                clip = self.literal(a.dtype)
                return lines + [f"T.copy(T.tensor_view({a.name}, {', '.join(one)}, shape={text_of(cut)}, clip={clip}), "
                                f"T.tensor_view({b.name}, {', '.join(two)}, shape={text_of(cut)}, clip={clip}))"]
        return []

    def call(self):
        rng, module = self.rng, self.module
        name = rng.choice(list(module.signatures_now))
        lines, given = [], []
        for _, dtype, shape, strides, const in module.signatures_now[name]:
            if shape is None and module.plain:
                own = [n for n, d in self.scalars if d == dtype]
                given.append(self.rng.choice(own or [self.literal(dtype)]))
                continue
            if shape is None:
                text = self.value(dtype)
                given.append(f"({text})" if text[0] != "(" else text)
                continue
            storage = module.storage.get(name, "gmem")
            found = [t for t in self.tensors if t.dtype == dtype and t.storage == storage and (const or not t.const)]
            rng.shuffle(found)
            for t in found:
                text, have = self.argument(t, shape, strides, lines)
                if text and t.name not in " ".join(given):
                    given.append(text)
                    break
            else:
                return []
        if name in KERNELS and rng.random() < 0.35:
            ctas = {"add": "ceildiv(N, 32)", "mix": "N"}.get(name, "2" if module.plain else "(" + self.int(1) + ") % 3")
            block = {"add": "32", "mix": "(2, 2)", "rows": "(4, 3)", "some": "8"}[name]
            if name == "rows":
                ctas = "1"
            return lines + [f"launch({name}, {', '.join(given)}, grid=({self.rng.choice([ctas, ctas, '1'])},), block={block})"]
        return lines + [f"{name}({', '.join(given)})"]

    def argument(self, t, shape, strides, lines):
        if strides:
            if len(t.shape) == 2 and not symbolic(t.shape) and t.shape[1] == 8 and t.shape[0] >= 3:
                return f"T.tensor_view({t.name}, {self.start(t.shape[0], 3, lines)}, {self.rng.choice('0404042')}, shape=(3, 4))", shape
            return None, None
        text, have = (t.name, t.shape) if self.module.plain and self.rng.random() < 0.7 else self.window(t, lines, True)
        if len(have) == len(shape) and all(want == "N" or want == e for want, e in zip(shape, have)):
            return text, have
        return (t.name, t.shape) if len(t.shape) == len(shape) and all(want == "N" or want == e for want, e in zip(shape, t.shape)) else (None, None)

    def nested(self, budget):
        """Statements of an inner block: what they bind is gone behind it."""
        saved = [list(x) for x in (self.tensors, self.ints, self.floats, self.bools)]
        self.depth += 1
        lines = self.block(budget)
        self.depth -= 1
        self.tensors, self.ints[:], self.floats[:], self.bools[:] = saved[0], saved[1], saved[2], saved[3]
        return ["    " + line for line in lines or ["pass"]]

    def branch(self, budget):
        lines = [f"if {self.bool()}:"] + self.nested(budget)
        if self.rng.random() < 0.4:
            lines += [f"elif {self.bool()}:"] + self.nested(budget)
        if self.rng.random() < 0.5:
            lines += ["else:"] + self.nested(budget)
        return lines

    def loop(self, budget):
        rng, name = self.rng, self.fresh("k")
        if rng.random() < 0.3:
            counter = self.allocate("i64", (1,), "host")
            held = self.tensors.pop().name
            counter[1] = f"T.fill({held}, 0)"
            inner = self.nested(budget)
            return counter + [f"while T.load({held}, 0) < ({self.int(1)}) % 4 + 0:", *inner, f"    T.store({held}, T.load({held}, 0) + 1, 0)"]
        bounds = rng.choice([f"({self.int(1)}) % 5", f"{rng.randrange(-2, 2)}, ({self.int(1)}) % 6", f"({self.int(1)}) % 5, -3, {rng.choice([-1, -2, f'({self.int(0)}) % 3 - 3'])}",
                             f"0, 9, ({self.scalar()}) % 4"])
        self.ints.append(name)
        inner = self.nested(budget)
        self.ints.remove(name)
        return [f"for {name} in range({bounds}):"] + inner

    def stop(self):
        return [f"if {self.bool()} and {self.bool()}:", "    " + self.rng.choice(["return", f'T.abort("stop {self.rng.randrange(100)}")'])]

    def statement(self, budget):
        if self.module.plain:
            return self.call()
        pick = self.rng.random()
        if pick < 0.18:
            return self.let()
        if pick < 0.34:
            return self.store()
        if pick < 0.46:
            return self.fill()
        if pick < 0.6:
            return self.copy()
        if pick < 0.74:
            return self.call() if self.module.signatures_now else self.let()
        if pick < 0.8:
            dtype = self.rng.choice([self.rng.choice(INTS + FLOATS + ["bool", "f8e8m0"]), "i32", "i32"])
            shape = self.rng.choice([(5,), (4, 8), (3, 5), (16,), (3, 4)] + [("N",), ("N", 4), ("2*N",)])
            return self.allocate(dtype, shape, self.rng.choice(["host", "gmem", "gmem"]))
        if pick < 0.84:
            return self.stop()
        if self.depth >= 2:
            return self.let()
        return self.branch(budget // 2) if pick < 0.92 else self.loop(budget // 2)

    def block(self, budget):
        lines = []
        for _ in range(self.rng.randrange(1, max(budget, 2))):
            lines += self.statement(budget)
        return lines


# ---- Modules ---------------------------------------------------------------------------------------------------------


class Case:
    """One module: text, entry arguments, and what the model needs."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed, self.names = seed, 0
        self.plain = self.rng.random() < 0.2  # launches, calls and dispatch only: there is a plan
        self.n = self.rng.choice([0, 1, 3, 4, 31, 32, 33, 40, 70])
        self.lo = 0 if self.n == 0 else self.rng.choice([0, 1])
        self.signatures, self.signatures_now, self.storage, self.kernels = {}, {}, {}, {}
        parts = []
        for name in self.rng.sample(list(KERNELS), self.rng.randrange(2, 5)):
            text, params, run = KERNELS[name]
            parts.append(text)
            self.signatures[name] = self.signatures_now[name] = params
            self.kernels[name] = run
        for helper in range(self.rng.randrange(0, 3)):
            parts.append(self.helper(f"helper{helper}"))
        if self.rng.random() < 0.6:
            parts.append(self.dispatcher())
        parts.append(self.main())
        self.text = f"from tilefoundry import *\n\nN = DimVar('N', {self.lo}, 100)\n\n\n@module(entry='main')\nclass M:" + "\n".join(parts)

    def params_of(self, body):
        return body.parameters

    def function(self, name, params, budget, outputs=1):
        """params: (name, dtype, shape or None, storage, const)."""
        tensors = [Local(n, d, s, st, c) for n, d, s, st, c in params if s is not None]
        scalars = [(n, d) for n, d, s, *_ in params if s is None]
        body = Body(self.rng, self, tensors, scalars, self.n)
        body.parameters = tensors[:1]
        lines = body.block(budget)
        head = ", ".join(self.declared(*p) for p in params)
        self.signatures[name] = [(n, d, s, None, c) for n, d, s, _, c in params]
        return f"\n    @prim_func(target=CpuTarget(), output_count={outputs})\n    def {name}({head}):\n" + "\n".join("        " + line for line in lines or ["pass"]) + "\n"

    @staticmethod
    def declared(name, dtype, shape, storage, const):
        if shape is None:
            return f'{name}: Tensor[(), "{dtype}"]'
        return f'{name}: {"ConstTensor" if const else "Tensor"}[{text_of(shape)}, "{dtype}"' + (", None, host]" if storage == "host" else "]")

    def helper(self, name):
        rng = self.rng
        storage = rng.choice(["host", "gmem"])
        params = [("x", "i32", ("N",), storage, False), ("a", rng.choice(INTS), None, None, False), ("p", "bool", None, None, False),
                  ("f", rng.choice(FLOATS), None, None, False)]
        text = self.function(name, params, 6)
        self.signatures_now = {**self.signatures_now, name: self.signatures[name]}
        self.storage[name] = storage
        return text

    def dispatcher(self):
        callees = [n for n, s in self.signatures_now.items() if len(s) == 2 and s[0][2] == ("N",)]
        if not callees:
            return ""
        cuts = sorted(self.rng.sample(range(2, 100), 2))
        ranges = [(self.lo, cuts[0]), (cuts[0], cuts[1])][self.rng.randrange(2):]
        lines = ['match T.dispatch("choose", T.shape_of(x, 0)):']
        for lo, hi in ranges:
            lines += [f'    case DimVarRangePat("N", {lo}, {hi}):', f"        {self.rng.choice(callees)}(x, {self.rng.randrange(100)})"]
        lines += ["    case _:", '        T.abort("no variant")']
        self.signatures["choose"] = [("x", "i32", ("N",), None, False)]
        self.signatures_now = {**self.signatures_now, "choose": self.signatures["choose"]}
        return '\n    @prim_func(target=CpuTarget())\n    def choose(x: Tensor[(N,), "i32"]):\n' + "\n".join("        " + line for line in lines) + "\n"

    def main(self):
        rng = self.rng
        self.params = [("x", "i32", ("N",), "host", False), ("g", "i32", ("N",), "gmem", False), ("w", "i32", ("N", 4), "gmem", False),
                       ("c", "i32", ("N", 4), "gmem", True), ("b", "i32", (6, 8), "gmem", False), ("h", rng.choice(INTS + FLOATS), (4, 3), "host", rng.random() < 0.5),
                       ("q", "bool", (3,), "host", False), ("d", "i32", ("2*N",), rng.choice(["host", "gmem"]), rng.random() < 0.3), ("v", rng.choice(FLOATS), (5,), "host", False)]
        self.params += [(f"a{k}", d, None, None, False) for k, d in enumerate([rng.choice(INTS), rng.choice(INTS), rng.choice(FLOATS), rng.choice(FLOATS), "bool"])]
        rng.shuffle(self.params)
        self.params += [("y", "i32", ("N",), "host", False), ("z", rng.choice(INTS + FLOATS), (3, 4), "gmem", False)]
        text = self.function("main", self.params, 14, 2)
        self.arguments = {name: self.bits(dtype, shape) for name, dtype, shape, *_ in self.params}
        return text

    def bits(self, dtype, shape):
        """An array of bits, or the bits of a scalar."""
        count = 1 if shape is None else int(np.prod([value_of(e, self.n) for e in shape]))
        made = np.array([self.element(dtype) for _ in range(count)], getattr(np, f"uint{DTYPES[dtype][1]}"))
        return int(made[0]) if shape is None else made.reshape([value_of(e, self.n) for e in shape])

    def element(self, dtype):
        kind, width = DTYPES[dtype][:2]
        if kind == "b":
            return self.rng.randrange(2)
        if kind != "f":
            return encode(dtype, self.rng.choice([self.rng.randrange(-20, 100), self.rng.randrange(2**width)] if self.rng.random() < 0.1 else [self.rng.randrange(0, 60)]))
        return encode(dtype, rounded(dtype, self.rng.choice([self.rng.uniform(-9, 9), self.rng.uniform(-9, 9), self.rng.choice([0.0, -0.0, 1e30, float("inf"), float("nan")])])))
