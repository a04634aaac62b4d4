# RUN: %python %s %tf-run %t
"""One DimVar in two shapes that disagree at run time, or outside of its range, or no multiple of what the shape says: refused before
anything is launched, with the parameter's name. Dims in another order than the parameters', hidden extents behind scalars. Ranges of a
dispatch with a gap (16 to 31) and the extents at its edges."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(107)
ORDER = """
M = DimVar("M", 1, 50)
N = DimVar("N", 2, 60)
K = DimVar("K", 1, 9)


@prim_func(target=CudaTarget("sm_80"))
def k(b: Tensor[(4 * K, N), "f32"], n: Tensor[(), "i32"], a: Tensor[(M, 4 * K), "f32"], c: Tensor[(N, M), "f32"], e: Tensor[(3,), "i64"]):
    with Mesh((Topology("cta", M), Topology("thread", 32)), Layout((M, 32)), ("c", "t")) as m:
        i = T.coord(m.c)
        for j in range(T.coord(m.t), N, 32):
            v = T.alloc_tensor(TensorType((1,), "f32", None, rmem))
            T.fill(v, 0.0)
            for p in range(4 * K):
                T.store(v, T.load(v, 0) + T.load(a, i, p) * T.load(b, p, j), 0)
            T.store(c, T.load(v, 0) + T.cast(n, "f32"), j, i)
        if i == 0 and T.coord(m.t) == 0:
            T.store(e, M, 0)
            T.store(e, N, 1)
            T.store(e, K + T.shape_of(a, 1), 2)
"""


def sizes(m, n, k):
    return (rng.integers(-9, 10, s).astype(np.float32) for s in ((m, 4 * k), (4 * k, n)))


for m, n, k in ((1, 2, 1), (7, 59, 8), (49, 33, 3)):
    a, b = sizes(m, n, k)
    check.run(ORDER, {"n": 5, "a": a, "b": b}, {"c": ((a @ b).T + 5, 0, 0), "e": (np.array([m, n, 5 * k]), 0, 0)})
a, b = sizes(7, 12, 2)
check.fails(ORDER, {"n": 1, "a": a, "b": b[:4]}, "argument 'a': axis 1 has extent 8, so K is 2, but elsewhere it is 1")
check.fails(ORDER, {"n": 1, "a": a[:, :6], "b": b[:6]}, "argument 'b': axis 0 has extent 6")
check.fails(ORDER, {"n": 1, "a": a, "b": b, "c": np.zeros((11, 7), np.float32)}, "argument 'c': axis 0 has extent 11, so N is 11, but elsewhere it is 12")
check.fails(ORDER, {"n": 1, "a": a, "b": b[:, :1]}, "argument 'b': axis 1 has extent 1, so N is 1, expected a value in [2, 60)")
check.fails(ORDER, {"n": 1, "a": np.zeros((50, 8), np.float32), "b": b}, "argument 'a': axis 0 has extent 50, so M is 50, expected a value in [1, 50)")

TWICE = """
S = DimVar("S", 1, 100)


@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(S, S), "f32"], y: Tensor[(S, S + 1), "f32"]):
    with Mesh((Topology("cta", S), Topology("thread", 1)), Layout((S, 1)), ("c", "t")) as m:
        for j in range(S):
            T.store(y, T.load(x, j, T.coord(m.c)), T.coord(m.c), j + 1)
        T.store(y, T.cast(S, "f32"), T.coord(m.c), 0)
"""
x = rng.standard_normal((5, 5)).astype(np.float32)
check.run(TWICE, {"x": x}, {"y": (np.concatenate([np.full((5, 1), 5, np.float32), x.T], axis=1), 0, 0)})
check.fails(TWICE, {"x": x[:4]}, "argument 'x': axis 1 has extent 5, so S is 5, but elsewhere it is 4")
check.fails(TWICE, {"x": x, "y": np.zeros((5, 5), np.float32)}, "argument 'y': axis 1 has extent 5, expected 6")

GAPS = """
S = DimVar("S", 1, 1024)


@prim_func(target=CudaTarget("sm_80"))
def low(x: Tensor[(S,), "i32"]):
    T.fill(x, 1)


@prim_func(target=CudaTarget("sm_80"))
def high(x: Tensor[(S,), "i32"]):
    T.fill(x, 2)


@prim_func(target=CpuTarget())
def main(x: Tensor[(S,), "i32"]):
    match T.dispatch("f", T.shape_of(x, 0)):
        case DimVarRangePat("S", 1, 16):
            low(x)
        case DimVarRangePat("S", 32, 64):
            high(x)
        case _:
            T.abort("no variant")
"""
for n in (1, 15, 32, 63):
    check.run(GAPS, {"x": np.zeros(n, np.int32)}, {"x": (np.full(n, 1 if n < 16 else 2, np.int32), 0, 0)})
for n in (16, 20, 31, 64, 1023):
    check.fails(GAPS, {"x": np.zeros(n, np.int32)}, "abort: no variant")
check.fails(GAPS, {"x": np.zeros(1024, np.int32)}, "expected a value in [1, 1024)")
