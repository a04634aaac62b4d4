# RUN: %python %s %tf-run %t
"""Offsets that wrap in 32 bits; division that truncates; loops with step 0, negative steps, zero trips, bounds known only at run time;
extents and grids of size zero; tensors of rank 0. What must come out is Python's own arithmetic."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(103)

# 319 * 7,864,320 is 2,508,718,080, beyond i32; so are products of i32 parameters, of dims, of coordinates.
OFFSETS = """
S = DimVar("S", 1, 1000)


@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(), "i32"], b: Tensor[(), "i32"], u: Tensor[(), "u32"], x: Tensor[(S,), "i32"], y: Tensor[(8, 32), "i64"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        t = T.coord(m.t)
        T.store(y, a * b, 0, t)
        T.store(y, a * b + t, 1, t)
        T.store(y, (t + 288) * 7864320, 2, t)
        T.store(y, S * S * S * 7864320 - t, 3, t)
        T.store(y, u * u - a * b, 4, t)
        T.store(y, (a * b) // 512 * 3 % 1000003, 5, t)
        T.store(y, a * b * 4 // (b * 4), 6, t)
        T.store(y, max(a * b, -a * b) >> 3, 7, t)
"""
t = np.arange(32, dtype=np.int64)
for a, b, u, s in ((319, 7864320, 2**32 - 1, 319), (-319, 7864320, 7, 999), (2**31 - 1, -2**31, 2**31, 1), (-2**31, -2**31, 0, 3)):
    rows = [[a * b] * 32, a * b + t, (t + 288) * 7864320, s**3 * 7864320 - t, [(u * u - a * b + 2**63) % 2**64 - 2**63] * 32,
            [a * b // 512 * 3 % 1000003] * 32, [a * b * 4 // (b * 4)] * 32, [abs(a * b) >> 3] * 32]
    if abs(a * b * 4) >= 2**63:
        continue
    check.run(OFFSETS, {"a": a, "b": b, "u": u, "x": np.zeros(s, np.int32)}, {"y": (np.array(rows, np.int64), 0, 0)})

FLOOR = """
@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(), "{0}"], b: Tensor[(), "{0}"], y: Tensor[(10,), "i64"]):
    with Mesh((Topology("thread", 1),), Layout((1,)), ("t",)) as m:
        T.store(y, a // b, 0)
        T.store(y, a % b, 1)
        T.store(y, ceildiv(a, b), 2)
        T.store(y, a // 512, 3)
        T.store(y, a % 512, 4)
        T.store(y, a // -512, 5)
        T.store(y, a % -512, 6)
        T.store(y, a // 7, 7)
        T.store(y, a % -7, 8)
        T.store(y, -a // 3, 9)
"""
for dtype, a, b in (("i32", -1, 512), ("i32", 7, -3), ("i32", -7, -3), ("i32", -2**31, -1), ("i32", -2**31, 7), ("i8", -128, -1), ("i8", -128, 3),
                    ("u8", 255, 2), ("u32", 2**32 - 1, 3), ("i64", -2**62, 2**40 + 1), ("i16", -32768, 5), ("i64", 511, -512)):
    want = [a // b, a % b, -(-a // b), a // 512, a % 512, a // -512, a % -512, a // 7, a % -7, -a // 3]
    check.run(FLOOR.format(dtype), {"a": a, "b": b}, {"y": (np.array(want), 0, 0)})

# A run-time step may turn out as 0: Python raises, here there are no trips. The step behind the last trip may leave 64 bits.
LOOPS = """
@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(), "{0}"], b: Tensor[(), "i64"], c: Tensor[(), "{0}"], y: Tensor[(2,), "i64"]):
    with Mesh((Topology("thread", 1),), Layout((1,)), ("t",)) as m:
        T.fill(y, 0)
        for i in range({1}):
            T.store(y, T.load(y, 0) + 1, 0)
            T.store(y, (T.load(y, 1) * 3 + i % 1000003) % 1000003, 1)
"""
I32, I64 = 2**31, 2**63
for a, b, c in ((0, 10, 3), (10, 0, -3), (0, 0, 1), (5, 5, -1), (5, 0, 1), (0, 5, -1), (-4, 4, 2), (I32 - 3, I32 + 2, 2), (-I32, -I32 + 3, 1),
                (I32 - 1, I32 - 4, -1), (-3, 3, 0), (3, -3, 0), (7, I64 - 1, 0), (I64 - 5, I64 - 1, 3), (-I64 + 5, -I64, -3), (0, I64 - 1, 2**62),
                (-I64, I64 - 1, 2**62), (I64 - 1, -I64, -I64), (I64 - 2, I64 - 1, 1), (-I64 + 1, -I64, -1), (I64 - 2, I64 - 1, I64 - 1)):
    total = 0
    trace = range(a, b, c) if c else ()
    for i in trace:
        total = (total * 3 + i % 1000003) % 1000003
    want = {"y": (np.array([len(trace), total]), 0, 0)}
    small = all(-I32 <= v < I32 for v in (a, c))
    for dtype in ("i32", "i64") if small else ("i64",):
        check.run(LOOPS.format(dtype, "a, b, c"), {"a": a, "b": b, "c": c}, want, ["--budget=100000"])
    if c and -I64 < min(a, b, c):  # as literals, where the least number has no spelling
        check.run(LOOPS.format("i64", f"{a}, {b}, {c}"), {"a": 0, "b": 0, "c": 0}, want, ["--budget=100000"])

# Nothing at all: extent 0, grids of size 0, loops over nothing, windows of no elements; neighbours stay what they are.
EMPTY = """
S = DimVar("S", 0, 100)


@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(S, 8), "f32"], n: Tensor[(), "i32"], y: Tensor[(S, 8), "f32"], z: Tensor[(3,), "f32"]):
    with Mesh((Topology("cta", S), Topology("thread", 8)), Layout((S, 8)), ("c", "t")) as m:
        T.store(y, T.load(x, T.coord(m.c), T.coord(m.t)) * 2.0, T.coord(m.c), T.coord(m.t))


@prim_func(target=CudaTarget("sm_80"))
def block(x: Tensor[(S, 8), "f32"], n: Tensor[(), "i32"], y: Tensor[(S, 8), "f32"], z: Tensor[(3,), "f32"]):
    with Mesh((Topology("thread", 8),), Layout((8,)), ("t",)) as m:
        t = T.coord(m.t)
        s = T.alloc_tensor(TensorType((0, 4), "f32", None, rmem))
        r = T.alloc_tensor(TensorType((4,), "f32", None, rmem))
        T.fill(s, 7.0)
        T.reduce(s, r, axes=(0,), kind="sum")
        for i in range(S):
            T.store(y, T.load(x, i, t) + T.load(r, 0), i, t)
        T.copy(T.tensor_view(z, 1, shape=(0,)), T.tensor_view(z, 0, shape=(0,)))
        if t == 0:
            T.store(z, T.cast(n, "f32") + T.load(r, 3), 1)


@prim_func(target=CpuTarget())
def main(x: Tensor[(S, 8), "f32"], n: Tensor[(), "i32"], y: Tensor[(S, 8), "f32"], z: Tensor[(3,), "f32"]):
    launch(k, x, n, y, z, grid=S, block=8)


@prim_func(target=CpuTarget())
def other(x: Tensor[(S, 8), "f32"], n: Tensor[(), "i32"], y: Tensor[(S, 8), "f32"], z: Tensor[(3,), "f32"]):
    block(x, n, y, z)
"""
for rows in (0, 1, 5):
    x = rng.integers(-9, 10, (rows, 8)).astype(np.float32)
    z = np.arange(3, dtype=np.float32)
    check.run(EMPTY, {"x": x, "n": -4, "z": z}, {"y": (x * 2, 0, 0), "z": (z, 0, 0)}, ["--entry=main"])
    check.run(EMPTY, {"x": x, "n": -4, "z": z}, {"y": (x, 0, 0), "z": (np.array([0, -4, 2], np.float32), 0, 0)}, ["--entry=other"])
