"""Scalars, loops, branches, early ends, launches, dispatches, host control flow, barriers: integers by Python's own arithmetic."""
import itertools
import math

import numpy as np

from case import Case, generator, mesh, tensor

OPERATORS = {
    "add": ("{a} + {b}", lambda a, b: a + b), "sub": ("{a} - {b}", lambda a, b: a - b), "mul": ("{a} * {b}", lambda a, b: a * b),
    "floor_div": ("{a} // {b}", lambda a, b: a // b), "mod": ("{a} % {b}", lambda a, b: a % b),
    "min": ("min({a}, {b})", min), "max": ("max({a}, {b})", max), "and": ("{a} & {b}", lambda a, b: a & b),
    "or": ("{a} | {b}", lambda a, b: a | b), "xor": ("{a} ^ {b}", lambda a, b: a ^ b),
    "shl": ("{a} << ({b} & 7)", lambda a, b: a << (b & 7)), "shr": ("{a} >> ({b} & 63)", lambda a, b: a >> (b & 63)),
    "neg": ("-{a}", lambda a, b: -a), "abs": ("abs({a}) - abs({b})", lambda a, b: abs(a) - abs(b)),
    "where": ("{a} if {a} < {b} else {b} * 2", lambda a, b: a if a < b else b * 2),
    "chain": ("1 if {a} < {b} <= 100 else 0", lambda a, b: int(a < b <= 100)),
    "logic": ("1 if ({a} > 0 and not {b} > 0) or {a} == {b} else 0", lambda a, b: int((a > 0 and not b > 0) or a == b)),
    "compare": ("(1 if {a} != {b} else 0) + (2 if {a} >= {b} else 0) + (4 if {a} < {b} else 0)", lambda a, b: (a != b) + 2 * (a >= b) + 4 * (a < b)),
    "guard": ("({a} // {b} if {b} != 0 else 7) + (1 if {b} != 0 and {a} % {b} == 0 else 0)", lambda a, b: a // b + (a % b == 0)),
}
CONSTANTS = (512, 7, -3, 1, -1)


def scalar_cases():
    """Run-time operands, then one that is a constant: power of two or not, negative or not."""
    for name, (text, value) in OPERATORS.items():
        for b in (None, *CONSTANTS):
            label = f"scalar-{name}-{'x' if b is None else b}"
            rng = generator(label)
            xs = [int(v) for v in rng.integers(-2000, 2000, 60)] + [-1, 0, 1, -512, 511, -513, 2**40 + 3, -2**40 - 5]
            ys = [int(v) or 9 for v in rng.integers(-50, 50, 60)] + [512, 512, -512, 512, -512, 7, 2**33 - 1, -3]
            want = np.array([(int(value(p, q if b is None else b)) + 2**63) % 2**64 - 2**63 for p, q in zip(xs, ys)], np.int64)
            body = f"""
with {mesh(68)} as m:
    t = T.coord(m.t)
    p = T.load(x, t)
    q = T.load(y, t)
    T.store(z, {text.format(a="p", b="q" if b is None else f"({b})")}, t)
"""
            yield Case(label, ("scalar_binary", "scalar_unary", "where", "load", "coord"),
                       [("x", tensor((68,), "i64")), ("y", tensor((68,), "i64")), ("z", tensor((68,), "i64"))], body,
                       {"x": np.array(xs), "y": np.array(ys)}, {"z": (want, 0, 0)}, ci=b in (None, 512, -3))


def cast_cases():
    x = np.array([0, 1.5, -1.5, 2.5, 300, -300, 3e9, np.nan, np.inf, -np.inf], np.float32)
    for dtype, info in (("i8", np.iinfo(np.int8)), ("u8", np.iinfo(np.uint8)), ("i32", np.iinfo(np.int32)), ("i64", np.iinfo(np.int64))):
        want = [0 if math.isnan(v) else (info.max if v > 0 else info.min) if math.isinf(v) else min(max(math.trunc(v), info.min), info.max) for v in x.astype(float)]
        body = f"""
with {mesh(10)} as m:
    T.store(y, T.cast(T.load(x, T.program_id("thread")), "{dtype}"), T.coord(m, 0))
"""
        yield Case(f"scalar-cast-{dtype}", ("cast", "program_id"), [("x", tensor((10,), "f32")), ("y", tensor((10,), dtype))], body, {"x": x},
                   {"y": (np.array(want, info.dtype), 0, 0)}, ci=True)


RANGES = [(0, 5, 1), (0, 5, 2), (5, 0, -1), (5, 0, -2), (0, 0, 1), (3, 1, 1), (1, 3, -1), (-4, 4, 3), (7, -7, -5), (0, 1, 100), (10, 9, -1)]


def loop_cases():
    """The induction variable's values in order, for static bounds, run-time ones, and a mixture."""
    for (start, stop, step), form in itertools.product(RANGES, ("static", "runtime", "step")):
        trace = list(range(start, stop, step))
        bounds = {"static": f"{start}, {stop}, {step}", "runtime": "a, b, c", "step": f"{start}, b, {step}"}[form]
        want = np.full(12, -99, np.int64)
        want[:len(trace)] = trace
        want[11] = len(trace)
        body = f"""
with {mesh(1)} as m:
    n = T.alloc_tensor(TensorType(shape=(1,), dtype="i64", storage=rmem))
    T.fill(n, 0)
    for i in range({bounds}):
        T.store(y, i, T.load(n, 0))
        T.store(n, T.load(n, 0) + 1, 0)
    T.store(y, T.load(n, 0), 11)
"""
        scalars = {"static": {}, "runtime": {"a": start, "b": stop, "c": step}, "step": {"b": stop}}[form]
        params = [(n, tensor((), "i64" if n == "b" else "i32")) for n in scalars] + [("y", tensor((12,), "i64"))]
        yield Case(f"loop-{start}-{stop}-{step}-{form}", ("load",), params, body, {**scalars, "y": np.full(12, -99, np.int64)}, {"y": (want, 0, 0)}, ci=form != "step")


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def branch_cases():
    x = np.arange(1, 65, dtype=np.int64)
    body = f"""
with {mesh(64)} as m:
    t = T.coord(m.t)
    s = T.alloc_tensor(TensorType(shape=(2,), dtype="i64", storage=rmem))
    T.store(s, T.load(x, t), 0)
    T.store(s, 0, 1)
    while T.load(s, 0) != 1:
        if T.load(s, 0) % 2 == 0:
            T.store(s, T.load(s, 0) // 2, 0)
        else:
            T.store(s, T.load(s, 0) * 3 + 1, 0)
        T.store(s, T.load(s, 1) + 1, 1)
    T.store(y, T.load(s, 1), t)
"""
    yield Case("while-collatz", ("load", "scalar_binary"), [("x", tensor((64,), "i64")), ("y", tensor((64,), "i64"))], body, {"x": x},
               {"y": (np.array([collatz(int(v)) for v in x]), 0, 0)}, ci=True)
    body = f"""
with {mesh(64)} as m:
    t = T.coord(m.t)
    if T.load(x, t) < 10:
        T.store(y, 1, t)
    elif T.load(x, t) % 3 == 0:
        T.store(y, 2, t)
    elif t > 50:
        return
    else:
        T.store(y, 3, t)
    T.store(z, t, t)
"""
    y = np.array([1 if v < 10 else 2 if v % 3 == 0 else 0 if t > 50 else 3 for t, v in enumerate(x)], np.int64)
    z = np.where(y == 0, -1, np.arange(64))
    yield Case("elif-return", ("load", "scalar_binary"), [(n, tensor((64,), "i64")) for n in "xyz"], body,
               {"x": x, "y": np.zeros(64, np.int64), "z": np.full(64, -1, np.int64)}, {"y": (y, 0, 0), "z": (z, 0, 0)}, ci=True)


def sync_cases():
    """Block barriers of any size, barriers of a warp's lanes, of some warps; staged through shared memory, backwards."""
    for threads in (1, 17, 32, 48, 96, 256):
        x = generator(f"sync{threads}").integers(-9999, 9999, threads).astype(np.int32)
        body = f"""
with {mesh(threads)} as m:
    s = T.alloc_tensor(TensorType(shape=({threads},), dtype="i32", storage=smem))
    t = T.coord(m.t)
    for i in range(2):
        T.store(s, T.load(x, t) + T.cast(i, "i32"), t)
        T.sync(m)
        if i == 1:
            T.store(y, T.load(s, {threads - 1} - t), t)
        T.sync(m)
"""
        yield Case(f"sync-{threads}", ("sync", "alloc_tensor"), [("x", tensor((threads,), "i32")), ("y", tensor((threads,), "i32"))], body, {"x": x},
                   {"y": (x[::-1] + 1, 0, 0)}, ci=True)
    for first, last in ((0, 64), (32, 96), (40, 48), (96, 128), (64, 65)):
        x = generator(f"sync{first}").integers(-9999, 9999, 128).astype(np.int32)
        body = f"""
with {mesh(128)} as m:
    s = T.alloc_tensor(TensorType(shape=(128,), dtype="i32", storage=smem))
    t = T.coord(m.t)
    T.store(s, T.load(x, t), t)
    T.sync(m[{first}:{last}])
    if t >= {first} and t < {last}:
        T.store(y, T.load(s, {first + last - 1} - t), t)
"""
        want = np.full(128, -7, np.int32)
        want[first:last] = x[first:last][::-1]
        yield Case(f"sync-{first}-{last}", ("sync",), [("x", tensor((128,), "i32")), ("y", tensor((128,), "i32"))], body,
                   {"x": x, "y": np.full(128, -7, np.int32)}, {"y": (want, 0, 0)}, ci=True)


LAUNCH = """
if T.program_id("thread") == 0:
    T.store(y, T.program_id("cta") * 10 + k, T.program_id("cta"))
"""


def launch_cases():
    for grid, block in ((1, 1), (7, 33), ((2, 3), 64), ((1, 2, 3), (4, 2, 2))):
        n = int(np.prod(grid))
        yield Case(f"launch-{n}-{np.prod(block)}-{np.ndim(grid)}", ("launch", "program_id"), [("y", tensor((n,), "i64")), ("k", tensor((), "i32"))], LAUNCH,
                   {"k": -3}, {"y": (np.arange(n) * 10 - 3, 0, 0)}, launch=f"grid={grid}, block={block}", ci=True)


DISPATCH = """from tilefoundry import *
N = DimVar("N", 0, 1000)

@module(entry="pick")
class D:
    @prim_func(target=CudaTarget("sm_80"))
    def one(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"]) -> None:
        with Mesh((Topology("thread", 16),), Layout(shape=(16,)), ("t",)) as m:
            T.binary(T.tensor_view(x, 0, shape=(16,), layout=T.spread(m, (16,), 1), clip=0.0), 1.0, T.tensor_view(y, 0, shape=(16,), layout=T.spread(m, (16,), 1), clip=0.0), kind="add")

    @prim_func(target=CudaTarget("sm_80"))
    def many(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"]) -> None:
        with Mesh((Topology("cta", N),), Layout(shape=(N,)), ("c",)) as g:
            with Mesh((Topology("thread", 1),), Layout(shape=(1,)), ("t",)) as m:
                T.store(y, T.load(x, T.coord(g.c)) * T.cast(N, "f32"), T.coord(g.c))

    @prim_func(target=CpuTarget())
    def pick(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"]) -> None:
        match T.dispatch("f", T.shape_of(x, 0)):
            case DimVarRangePat("N", 0, 17):
                one(x, y)
            case DimVarRangePat("N", 17, 1000):
                many(x, y)
            case _:
                T.abort("no range")
"""
HOST = """from tilefoundry import *
S = DimVar("S", 1, 100)

@module(entry="main")
class H:
    @prim_func(target=CudaTarget("sm_80"))
    def double(x: Tensor[(S, 8), "i32"], y: Tensor[(S, 8), "i32"]) -> None:
        with Mesh((Topology("cta", S), Topology("thread", 8)), Layout(shape=(S, 8), strides=(8, 1)), ("c", "t")) as m:
            own = ShardLayout(layout=Layout(shape=(S, 8), strides=(8, 1)), attrs=(Split(0), Split(1)), mesh=m)
            T.binary(T.tensor_view(x, layout=own), 2, T.tensor_view(y, layout=own), kind="mul")

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(S, 8), "i32"], y: Tensor[(S, 8), "i32"], n: Tensor[(), "i32"]) -> None:
        other = T.alloc_tensor(TensorType(shape=(S, 8), dtype="i32", storage=gmem))
        T.copy(x, other)
        for i in range(n):
            if i % 2 == 0:
                double(other, y)
            else:
                double(y, other)
        if n % 2 == 0:
            T.copy(other, y)
"""


def host_cases():
    for n in (0, 1, 16, 17, 41):
        x = generator(f"dispatch{n}").standard_normal(n).astype(np.float32)
        yield Case(f"dispatch-{n}", ("dim_value", "load"), [], "", {"x": x}, {"y": (x + 1 if n < 17 else x * np.float32(n), 0, 0)}, module=DISPATCH, ci=True)
    for n in (0, 1, 2, 5):
        x = generator(f"host{n}").integers(-99, 99, (3, 8)).astype(np.int32)
        yield Case(f"host-{n}", ("launch", "alloc_tensor", "copy"), [], "", {"x": x, "n": n}, {"y": (x * 2**n, 0, 0)}, module=HOST)


def cases():
    yield from scalar_cases()
    yield from cast_cases()
    yield from loop_cases()
    yield from branch_cases()
    yield from sync_cases()
    yield from launch_cases()
    yield from host_cases()
