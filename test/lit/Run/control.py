# RUN: %python %s %tf-run %t
"""Loops with every kind of bounds, floor division and modulus, short circuit, returns in scopes; against Python itself."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
LOOP = """
@prim_func(target=CudaTarget("sm_80"))
def k(start: Tensor[(), "i64"], stop: Tensor[(), "i64"], step: Tensor[(), "i64"], y: Tensor[(64,), "i64"]) -> None:
    with Mesh((Topology("thread", 1),), Layout(shape=(1,), strides=(1,)), ("t",)) as m:
        T.fill(y, -1)
        for i in range(start, stop, step):
            T.store(y, i, 63)
            T.store(y, T.load(y, 0) + 1, 0)
            T.store(y, i * i, 1 + (i - start) // step)
"""
for start, stop, step in ((0, 5, 1), (5, 0, -1), (0, 5, 2), (5, 0, -3), (0, 0, 1), (3, 1, 1), (-7, 9, 4), (9, -7, -5)):
    want = np.full(64, -1)
    for n, i in enumerate(range(start, stop, step)):
        want[63] = i
        want[0] += 1
        want[1 + n] = i * i
    check.run(LOOP, {"start": start, "stop": stop, "step": step}, {"y": (want, 0, 0)})

DIVIDE = """
@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(), "i64"], b: Tensor[(), "i64"], y: Tensor[(6,), "i64"]) -> None:
    with Mesh((Topology("thread", 1),), Layout(shape=(1,), strides=(1,)), ("t",)) as m:
        T.store(y, a // b, 0)
        T.store(y, a % b, 1)
        T.store(y, a // 8, 2)
        T.store(y, a % 8, 3)
        T.store(y, a // -3, 4)
        T.store(y, a % -3, 5)
"""
for a in (-17, -16, -1, 0, 1, 13, 2**62 + 5, -(2**62) - 5):
    for b in (-5, -1, 1, 3, 2**40 + 1):
        check.run(DIVIDE, {"a": a, "b": b}, {"y": (np.array([a // b, a % b, a // 8, a % 8, a // -3, a % -3]), 0, 0)})

RETURN = """
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i64"], x: Tensor[(64,), "i64"], y: Tensor[(64,), "i64"]) -> None:
    with Mesh((Topology("thread", 64),), Layout(shape=(64,), strides=(1,)), ("t",)) as m:
        i = T.coord(m.t)
        T.store(y, 0, i)
        if i >= n and T.load(x, i) > 0:
            return
        T.store(y, T.load(x, i) * 2, i)
        if i < n or T.load(x, (i * 7) % 64) == 3:
            T.store(y, T.load(y, i) + 1, i)
"""
x = np.random.default_rng(3).integers(-4, 5, 64)
for n in (0, 10, 64):
    want = np.zeros(64, np.int64)
    for i in range(64):
        if i >= n and x[i] > 0:
            continue
        want[i] = x[i] * 2 + (i < n or x[i * 7 % 64] == 3)
    check.run(RETURN, {"n": n, "x": x}, {"y": (want, 0, 0)})
