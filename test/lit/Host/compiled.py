# RUN: %python %s %tf-run %t
"""CPU functions as machine code: scalars against Python's and NumPy's own, control flow, windows, temporaries, and everything
that ends a function with an error. Each fault has a neighbour that passes."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(41)
HEAD = "from tilefoundry import *\nN = DimVar('N', 1, 4096)\n\n"
STEP = '''\
@prim_func(target=CudaTarget("sm_80"))
def add(x: Tensor[(N,), "i32"], n: Tensor[(), "i32"]):
    with Mesh((Topology("cta", ceildiv(N, 32)), Topology("thread", 32)), Layout((ceildiv(N, 32), 32)), ("c", "t")) as m:
        i = T.coord(m.c) * 32 + T.coord(m.t)
        if i < N:
            T.store(x, T.load(x, i) + T.cast(n, "i32"), i)


'''


def host(head, body, *more):
    """A module whose entry `main` has these parameters and statements."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return HEAD + "".join(more) + f'@prim_func(target=CpuTarget())\ndef main({head}):\n{lines}'


# ---- Integers, exactly as Python has them ----------------------------------------------------------------------------
TERNARY = "{a} if {a} < {b} else {b} - 1"
INTEGERS = ["{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} // {b}", "{a} % {b}", "min({a}, {b})", "max({a}, {b})", "-{a}", "abs({a})", "{a} & {b}",
            "{a} | {b}", "{a} ^ {b}", "{a} << ({b} & 7)", "{a} >> ({b} & 63)", TERNARY, "1 if {a} < {b} <= 100 else 0",
            "1 if ({a} > 0 and not {b} > 0) or {a} == {b} else 0", "{a} // {b} if {b} != 0 and {a} > -5 else 7", "({a} * 3 - {b}) // 4 % 7"]
pairs = [(7, -3), (-7, 3), (-1, 512), (2**40 + 3, -5), (-2**40 - 5, 2**20), (2**31, -1), (0, 1), (-512, 512), (511, 64)]
pairs += [(int(a), int(b) or 1) for a, b in rng.integers(-2000, 2000, (12, 2))]
body = "".join(f"T.store(y, {text.format(a='a', b='b')}, {k})\n" for k, text in enumerate(INTEGERS))
module = host("x: Tensor[(2,), 'i64', None, host], y: Tensor[(%d,), 'i64', None, host]" % len(INTEGERS), "a = T.load(x, 0)\nb = T.load(x, 1)\n" + body)
for a, b in pairs:
    want = [eval(text.format(a="a", b="b")) for text in INTEGERS]
    check.run(module, {"x": np.array([a, b])}, {"y": (want, 0, 0)})

# ---- What has no value in 64 bits ------------------------------------------------------------------------------------
LIMITS = host("x: Tensor[(2,), 'i64', None, host], y: Tensor[(1,), 'i64', None, host]", "T.store(y, {text}, 0)")
big = 2**63 - 1
for text, good, bad, message in [
    ("T.load(x, 0) + T.load(x, 1)", (big - 1, 1), (big, 1), "main: the arithmetic overflows 64 bits"),
    ("T.load(x, 0) - T.load(x, 1)", (-big, 1), (-big, 2), "main: the arithmetic overflows 64 bits"),
    ("T.load(x, 0) * T.load(x, 1)", (2**31, 2**31), (2**32, 2**31), "main: the arithmetic overflows 64 bits"),
    ("-T.load(x, 0)", (-big, 0), (-big - 1, 0), "main: the arithmetic overflows 64 bits"),
    ("abs(T.load(x, 0))", (-big, 0), (-big - 1, 0), "main: the arithmetic overflows 64 bits"),
    ("T.load(x, 0) // T.load(x, 1)", (-7, 2), (-7, 0), "main: division by zero"),
    ("T.load(x, 0) // T.load(x, 1)", (-big, -1), (-big - 1, -1), "main: the arithmetic overflows 64 bits"),
    ("T.load(x, 0) % T.load(x, 1)", (-big - 1, -1), (-7, 0), "main: division by zero"),
    ("T.load(x, 0) << T.load(x, 1)", (1, 62), (1, 64), "main: a shift by less than 0 or more than 63"),
    ("T.load(x, 0) >> T.load(x, 1)", (-9, 63), (-9, -1), "main: a shift by less than 0 or more than 63"),
    ("T.load(x, T.load(x, 1))", (5, 0), (5, 2), "main: x: load: index 2 on axis 0 is outside [0, 2)"),
    ("T.load(x, T.load(x, 1))", (5, 1), (5, -1), "main: x: load: index -1 on axis 0 is outside [0, 2)"),
    ("T.load(x, 0) // T.load(x, 1) if T.load(x, 1) != 0 else 3", (9, 0), None, ""),
]:
    source = LIMITS.replace("{text}", text)
    x = list(good)
    value = eval(text.replace("T.load(x, T.load(x, 1))", "x[x[1]]").replace("T.load(x, 0)", "x[0]").replace("T.load(x, 1)", "x[1]"))
    check.run(source, {"x": np.array(good)}, {"y": ([value], 0, 0)})
    if bad:
        check.fails(source, {"x": np.array(bad)}, f"kernel.tir:6:5: error: {message}")

# ---- Floats: one rounding per operation ------------------------------------------------------------------------------
for dtype, kind in (("f32", np.float32), ("f64", np.float64), ("f16", np.float16)):
    operations = ["a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "-a", "abs(b)", "(a + b) * a - b", "a if a < b else b"]
    body = "a = T.load(x, 0)\nb = T.load(x, 1)\n" + "".join(f"T.store(y, {text}, {k})\n" for k, text in enumerate(operations))
    module = host(f"x: Tensor[(2,), '{dtype}', None, host], y: Tensor[({len(operations)},), '{dtype}', None, host]", body)
    for _ in range(4):
        a, b = rng.standard_normal(2).astype(kind) * kind(7)
        check.run(module, {"x": np.array([a, b])}, {"y": (np.array([eval(text) for text in operations]).astype(kind), 0, 0)})

# Casts: truncation that saturates, wrapping, round to nearest even, bf16.
CASTS = [("'i8'", [127, -128, 0, -7, 127]), ("'u8'", [255, 0, 0, 0, 200]), ("'i64'", [3 * 10**9, -3 * 10**9, 0, -7, 200]), ("'bool'", [1, 1, 1, 1, 1])]
values = np.array([3e9, -3e9, np.nan, -7.9, 200.6])
for name, want in CASTS:
    body = "".join(f"T.store(y, T.cast(T.load(x, {k}), {name}), {k})\n" for k in range(5))
    made = np.array(want).astype({"'i8'": np.int8, "'u8'": np.uint8, "'i64'": np.int64, "'bool'": np.bool_}[name])
    check.run(host(f"x: Tensor[(5,), 'f64', None, host], y: Tensor[(5,), {name}, None, host]", body), {"x": values}, {"y": (made, 0, 0)})
body = "".join(f"T.store(y, T.cast(T.load(x, {k}), 'bf16'), {k})\n" for k in range(6))
integers = np.array([2**62 + 2**54 + 1, 2**62 + 2**54, -(2**62 + 3 * 2**54), 257, 2**53 + 1, -1])
check.run(host("x: Tensor[(6,), 'i64', None, host], y: Tensor[(6,), 'bf16', None, host]", body), {"x": integers},
          {"y": (np.array([2.0**62 + 2.0**55, 2.0**62, -2.0**62 - 2.0**56, 256, 2.0**53, -1], np.float32), 0, 0)})

# ---- Control flow ----------------------------------------------------------------------------------------------------
WALK = host("n: Tensor[(), 'i32'], s: Tensor[(), 'i32'], y: Tensor[(4,), 'i64', None, host]", '''
T.fill(y, 0)
for i in range(n, -n, s):
    T.store(y, T.load(y, 0) + i, 0)
    if i % 3 == 0:
        T.store(y, T.load(y, 1) + 1, 1)
    elif i % 3 == 1:
        T.store(y, T.load(y, 2) + i * i, 2)
        if T.load(y, 2) > 50:
            return
    else:
        k = i
        while T.load(y, 3) < k:
            T.store(y, T.load(y, 3) + 2, 3)
''')


def walk(n, s):
    y = [0] * 4
    for i in range(n, -n, s):
        y[0] += i
        if i % 3 == 0:
            y[1] += 1
        elif i % 3 == 1:
            y[2] += i * i
            if y[2] > 50:
                return y
        else:
            while y[3] < i:
                y[3] += 2
    return y


for n, s in [(6, -1), (-6, 1), (11, -2), (-9, 4), (5, 1), (0, 1), (30, -7)]:
    check.run(WALK, {"n": n, "s": s}, {"y": (walk(n, s), 0, 0)})

# Grids that depend on the loop's variable; temporaries of the body; calls; the same kernel on shrinking windows.
LAUNCHES = host("x: Tensor[(N,), 'i32', None, host], n: Tensor[(), 'i32'], y: Tensor[(N,), 'i32', None, host]", '''
t = T.alloc_tensor(TensorType((N,), "i32", None, gmem))
T.copy(x, t)
for i in range(n):
    u = T.alloc_tensor(TensorType((N,), "i32", None, gmem))
    h = T.alloc_tensor(TensorType((N,), "i32", None, host))
    T.copy(t, u)
    bump(u, i)
    T.copy(u, h)
    T.store(h, T.load(h, 0) * 2, 0)
    T.copy(h, t)
    first(t, i)
T.copy(t, y)
''', STEP, '''\
@prim_func(target=CudaTarget("sm_80"))
def fifth(x: Tensor[(N,), "i32"], k: Tensor[(), "i32"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        i = T.program_id("cta") * 32 + T.coord(m.t)
        if i < N:
            T.store(x, T.load(x, i) - T.cast(k, "i32"), i)


@prim_func(target=CpuTarget())
def bump(x: Tensor[(N,), "i32"], by: Tensor[(), "i64"]):
    add(x, T.cast(by * by, "i32"))


@prim_func(target=CpuTarget())
def first(x: Tensor[(N,), "i32"], ctas: Tensor[(), "i64"]):
    launch(fifth, x, 1000, grid=(min(ctas, ceildiv(N, 32)),), block=32)


''').replace("from tilefoundry import *", "from tilefoundry import *\n@module(entry='main')\nclass M:\n", 1)
head, rest = LAUNCHES.split("class M:\n")
LAUNCHES = head + "class M:\n" + "".join(f"    {line}\n" if line else "\n" for line in rest.split("\n"))
for size, n in [(1, 3), (100, 0), (100, 1), (70, 5)]:
    x = rng.integers(-99, 99, size).astype(np.int32)
    want = x.copy()
    for i in range(n):
        want += i * i
        want[0] *= 2
        want[:32 * i] -= 1000
    check.run(LAUNCHES, {"x": x, "n": n}, {"y": (want, 0, 0)})

# ---- Windows ---------------------------------------------------------------------------------------------------------
COPIES = host("x: Tensor[(6, 10), 'u8', None, host], y: Tensor[(6, 10), 'u8', None, host], z: Tensor[(10, 6), 'u8', None, host], n: Tensor[(), 'i32']", '''
a = T.alloc_tensor(TensorType((6, 10), "u8", None, gmem))
b = T.alloc_tensor(TensorType((6, 10), "u8", None, gmem))
t = T.alloc_tensor(TensorType((10, 6), "u8", None, gmem))
T.copy(x, a)
T.fill(b, 7)
T.copy(T.tensor_view(a, n, 2, shape=(3, 5)), T.tensor_view(b, 1, n, shape=(3, 5)))
T.copy(T.tensor_view(a, 4, 8, shape=(4, 4), clip=99), T.tensor_view(b, 2, 6, shape=(4, 4)))
T.fill(T.tensor_view(b, 5, 8, shape=(3, 3), clip=0), 55)
T.copy(b, y)
T.copy(T.tensor_view(a, layout=Layout((10, 6), (1, 10))), t)
T.copy(t, z)
T.fill(T.tensor_view(z, 0, n, shape=(10, 1)), 3)
''')
x = rng.integers(0, 255, (6, 10)).astype(np.uint8)
for n in (0, 2, 3):
    y = np.full((6, 10), 7, np.uint8)
    y[1:4, n:n + 5] = x[n:n + 3, 2:7]
    clipped = np.full((4, 4), 99, np.uint8)
    clipped[:2, :2] = x[4:, 8:]
    y[2:6, 6:10] = clipped
    y[5:, 8:] = 55
    z = x.T.copy()
    z[:, n] = 3
    check.run(COPIES, {"x": x, "n": n}, {"y": (y, 0, 0), "z": (z, 0, 0)})
check.fails(COPIES, {"x": x, "n": 4}, "kernel.tir:11:5: error: main: a: the window leaves its tensor")
check.fails(COPIES, {"x": x, "n": -1}, "the window leaves its tensor")

# A clipped window may be anywhere.
FAR = host("x: Tensor[(4, 8), 'i16', None, host], n: Tensor[(), 'i64'], y: Tensor[(4, 8), 'i16', None, host]", '''
t = T.alloc_tensor(TensorType((4, 8), "i16", None, gmem))
T.copy(x, t)
T.fill(T.tensor_view(t, n, 1, shape=(3, 2), clip=0), 5)
T.copy(t, y)
''')
for n in (0, 3, 4, -2, -3, 2**62, -2**63, 2**63 - 1, 2**61):
    want = np.arange(32, dtype=np.int16).reshape(4, 8)
    for row in range(max(n, 0), min(n + 3, 4)):
        want[row, 1:3] = 5
    check.run(FAR, {"x": np.arange(32, dtype=np.int16).reshape(4, 8), "n": n}, {"y": (want, 0, 0)})

# Inside of the storage is not enough: a row that is too long would go on in the next one.
EDGES = host("x: Tensor[(5, 8), 'i32', None, host], n: Tensor[(), 'i32'], y: Tensor[(5, 8), 'i32', None, host]", '''
t = T.alloc_tensor(TensorType((5, 8), "i32", None, gmem))
T.copy(x, t)
{statement}
T.copy(t, y)
''', STEP)
x = rng.integers(-99, 99, (5, 8)).astype(np.int32)
for statement, good, bad, change in [
    ("T.store(t, 7, 1, n)", (0, 7), (-1, 8), lambda y, n: y.__setitem__((1, n), 7)),
    ("T.store(t, 7, n, 3)", (0, 4), (-1, 5), lambda y, n: y.__setitem__((n, 3), 7)),
    ("T.fill(T.tensor_view(t, 2, n, shape=(1, 3)), 7)", (0, 5), (-3, 6), lambda y, n: y[2, n:n + 3].fill(7)),
    ("T.fill(T.tensor_view(t, n, shape=(12,)), 7)", (0, 28), (-1, 29), lambda y, n: y.reshape(-1)[n:n + 12].fill(7)),
    ("T.fill(T.tensor_view(T.tensor_view(t, 1, 0, shape=(2, 8)), n, 0, shape=(1, 8)), 7)", (0, 1), (-1, 2), lambda y, n: y[n + 1].fill(7)),
    ("T.fill(T.tensor_view(T.tensor_view(t, 1, 0, shape=(2, 8)), n, shape=(3,)), 7)", (0, 13), (-1, 14), lambda y, n: y.reshape(-1)[8 + n:11 + n].fill(7)),
    ("T.copy(T.tensor_view(x, 0, n, shape=(2, 2)), T.tensor_view(t, 3, 0, shape=(2, 2)))", (0, 6), (-1, 7),
     lambda y, n: y[3:5, 0:2].__setitem__(slice(None), x[0:2, n:n + 2])),
    ("add(T.tensor_view(t, 1, n, shape=(4,)), 7)", (0, 4), (-4, 8), lambda y, n: y[1, n:n + 4].__iadd__(7)),
]:
    source = EDGES.replace("{statement}", statement)
    for n in good:
        want = x.copy()
        change(want, n)
        check.run(source, {"x": x, "n": n}, {"y": (want, 0, 0)})
    for n in bad:
        check.fails(source, {"x": x, "n": n}, "the window leaves its tensor")

# Every dtype is filled, on both sides.
for dtype, value, want in [("bool", "True", np.array([True] * 5)), ("i16", "-300", np.full(5, -300, np.int16)), ("f64", "1e-300", np.full(5, 1e-300)),
                           ("i64", "2**40 + 7", np.full(5, 2**40 + 7)), ("f16", "float('-inf')", np.full(5, -np.inf, np.float16)), ("u32", "4000000000", np.full(5, 4000000000, np.uint32)),
                           ("bf16", "0.1", np.full(5, 0.10009765625, np.float32)), ("fp8e4m3", "1000.0", np.full(5, 448, np.float32)), ("f32", "0.1", np.full(5, 0.1, np.float32))]:
    body = f'''
t = T.alloc_tensor(TensorType((7,), "{dtype}", None, gmem))
T.fill(t, {value})
T.copy(T.tensor_view(t, 1, shape=(5,)), y)
T.fill(z, {value})
'''
    both = {name: (want, 0, 0) for name in "yz"}
    check.run(host(f"y: Tensor[(5,), '{dtype}', None, host], z: Tensor[(5,), '{dtype}', None, host]", body), {}, both)

# ---- Arguments of launches and calls ---------------------------------------------------------------------------------
ARGUMENTS = host("x: Tensor[(N, 16), 'i32', None, host], k: Tensor[(), 'i64'], r: Tensor[(), 'i32'], y: Tensor[(N, 16), 'i32', None, host]", '''
t = T.alloc_tensor(TensorType((N, 16), "i32", None, gmem))
T.copy(x, t)
{call}
T.copy(t, y)
''', STEP)
ROW = "add(T.tensor_view(t, r, 0, shape=(16,)), k)"
x = rng.integers(-99, 99, (5, 16)).astype(np.int32)
want = x.copy()
want[3] += 11
check.run(ARGUMENTS.replace("{call}", ROW), {"x": x, "k": 11, "r": 3}, {"y": (want, 0, 0)})
check.fails(ARGUMENTS.replace("{call}", ROW), {"x": x, "k": 2**31, "r": 3}, "error: main: n: the value is out of the dtype's range")
check.fails(ARGUMENTS.replace("{call}", ROW), {"x": x, "k": 11, "r": 5}, "error: main: x: the window leaves its tensor")
BLOCKS = ARGUMENTS.replace("@prim_func", '''\
@prim_func(target=CudaTarget("sm_80"))
def block(x: Tensor[(N, 4), "i32"]):
    T.fill(x, 5)


@prim_func(target=CudaTarget("sm_80"))
def strided(x: Tensor[(3, 4), "i32", Layout((3, 4), (16, 1))]):
    T.fill(x, 6)


@prim_func''', 1)
want = x.copy()
want[2, 4:8] = 5
check.run(BLOCKS.replace("{call}", "block(T.tensor_view(t, r, 4, shape=(1, 4)))"), {"x": x, "k": 1, "r": 2}, {"y": (want, 0, 0)})
check.fails(BLOCKS.replace("{call}", "block(T.tensor_view(t, r, 4, shape=(2, 4)))"), {"x": x, "k": 1, "r": 2},
            "kernel 'block': refused: argument 'x': axis 0 has stride 16, expected 4 (C order)")
want = x.copy()
want[1:4, 8:12] = 6
check.run(BLOCKS.replace("{call}", "strided(T.tensor_view(t, r, 8, shape=(3, 4)))"), {"x": x, "k": 1, "r": 1}, {"y": (want, 0, 0)})
PLAIN = "u = T.alloc_tensor(TensorType((3, 4), 'i32', None, gmem))\nT.copy(T.tensor_view(t, r, 8, shape=(3, 4)), u)\nstrided(u)"
check.fails(BLOCKS.replace("{call}", PLAIN.replace("\n", "\n    ")), {"x": x, "k": 1, "r": 1},
            "kernel 'strided': refused: argument 'x': axis 0 has stride 4, expected 16")
check.fails(ARGUMENTS.replace("{call}", "add(T.tensor_view(t, r, 1, shape=(3,)), k)"), {"x": x, "k": 1, "r": 0}, "the first element is at address")
check.fails(ARGUMENTS.replace("{call}", "add(T.tensor_view(t, 3, r, shape=(16,), clip=0), k)"), {"x": x, "k": 1, "r": 4},
            "main: x: a clipped window is no tensor that a function can take: copy it to one first")
LAUNCH = "launch(add, T.tensor_view(t, 0, 0, shape=(16,)), 1, grid=(r,), block=32)"
check.run(ARGUMENTS.replace("{call}", LAUNCH), {"x": x, "k": 1, "r": 1}, {"y": (x + np.eye(5, 1, dtype=np.int32), 0, 0)})
check.run(ARGUMENTS.replace("{call}", LAUNCH), {"x": x, "k": 1, "r": 0}, {"y": (x, 0, 0)})
check.fails(ARGUMENTS.replace("{call}", LAUNCH), {"x": x, "k": 1, "r": 2}, "kernel 'add': the grid is (2, 1, 1), the kernel needs 1 CTAs")
check.fails(ARGUMENTS.replace("{call}", LAUNCH), {"x": x, "k": 1, "r": -1}, "kernel.tir:16:5: error: main: add: an extent is negative")

# ---- Ends in the middle ----------------------------------------------------------------------------------------------
ABORT = host("x: Tensor[(4,), 'i32', None, host], n: Tensor[(), 'i32']", '''
t = T.alloc_tensor(TensorType((4,), "i32", None, gmem))
h = T.alloc_tensor(TensorType((4,), "i32", None, host))
T.copy(x, t)
for i in range(n):
    u = T.alloc_tensor(TensorType((4,), "i32", None, gmem))
    T.copy(t, u)
    if i == 2:
        T.abort("i is two")
    add(t, 1)
    if i == 1 and T.load(x, 0) < 0:
        return
T.copy(t, x)
''', STEP)
one = np.array([1, 2, 3, 4], np.int32)
check.run(ABORT, {"x": one, "n": 2}, {"x": (one + 2, 0, 0)})
check.run(ABORT, {"x": -one, "n": 9}, {"x": (-one, 0, 0)})
check.fails(ABORT, {"x": one, "n": 3}, "kernel.tir:21:13: error: main: abort: i is two")
