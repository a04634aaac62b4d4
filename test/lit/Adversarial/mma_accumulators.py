# RUN: %python %s %tf-run %t
"""An accumulator reduced along N or M while its tile is dealt to warps along both axes: each row's sum needs lanes of one warp and
other warps, whose copies of a row must not be counted twice. (Accumulators fed back as operands: Run/mma_chain.py.)"""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(71)
KERNEL = """
atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32F16F16F32_TN)
tile = T.cuda.mma.tile(atom, ({m}, {n}, 16), ({wm}, {wn}))


@prim_func(target=CudaTarget("sm_80"))
def product(a: Tensor[({m}, 16), "f16"], b: Tensor[(16, {n}), "f16"], rows: Tensor[({m}, 1), "f32"], columns: Tensor[(1, {n}), "f32"], c: Tensor[({m}, {n}), "f32"]):
    with tile.required_scope as block:
        x = T.alloc_tensor(TensorType(({m}, 16), "f16", tile.A, rmem))
        y = T.alloc_tensor(TensorType((16, {n}), "f16", tile.B, rmem))
        acc = T.alloc_tensor(TensorType(({m}, {n}), "f32", tile.C, rmem))
        r = T.alloc_tensor(TensorType(({m}, 1), "f32", T.reduced(tile.C, ({m}, {n}), 1), rmem))
        q = T.alloc_tensor(TensorType((1, {n}), "f32", T.reduced(tile.C, ({m}, {n}), 0), rmem))
        T.copy(a, x)
        T.copy(b, y)
        T.fill(acc, 0.0)
        T.mma(acc, x, y, atom=tile)
        T.reduce(acc, r, axes=(1,), kind="{kind}")
        T.reduce(acc, q, axes=(0,), kind="{kind}")
        T.binary(acc, r, acc, kind="sub")
        T.copy(r, rows)
        T.copy(q, columns)
        T.copy(acc, c)
"""
REDUCE = {"sum": np.sum, "max": np.max, "abs_max": lambda x, **k: np.abs(x).max(**k)}
for (m, n), (wm, wn), kind in (((32, 16), (2, 2), "sum"), ((64, 32), (2, 2), "max"), ((16, 32), (1, 4), "abs_max"), ((64, 8), (4, 1), "sum"),
                               ((32, 64), (2, 4), "sum")):
    a = rng.integers(-9, 10, (m, 16)).astype(np.float16)
    b = rng.integers(-9, 10, (16, n)).astype(np.float16)
    c = a.astype(np.float32) @ b.astype(np.float32)
    rows, columns = (REDUCE[kind](c, axis=axis, keepdims=True) for axis in (1, 0))
    for options in ((), ("--seed=4",)):
        check.run(KERNEL.format(m=m, n=n, wm=wm, wn=wn, kind=kind), {"a": a, "b": b},
                  {"rows": (rows, 0, 0), "columns": (columns, 0, 0), "c": (c - rows, 0, 0)}, options)
