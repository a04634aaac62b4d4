# RUN: %python %s %tf-run %t
"""Partial results of warps added whatever the kind; one workspace for two reductions in a row, overwritten while a slower warp still
reads it; a start value that is no identity; NaN that gets lost at one of the levels a value passes (thread, lanes, warps)."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(79)
ROWS = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[({rows}, {columns}), "{dtype}"], y: Tensor[({rows}, 1), "{dtype}"]):
    with Mesh((Topology("thread", {threads}),), Layout(({threads},)), ("t",)) as m:
        own = T.spread(m, (1, {columns}), 1)
        v = T.alloc_tensor(TensorType((1, {columns}), "{dtype}", own, rmem))
        s = T.alloc_tensor(TensorType((1, 1), "{dtype}", T.reduced(own, (1, {columns}), 1), rmem))
        for i in range({rows}):
            T.copy(T.tensor_view(x, i, 0, shape=(1, {columns}), layout=own), v)
            T.reduce(v, s, axes=(1,), kind="{kind}")
            T.copy(s, T.tensor_view(y, i, 0, shape=(1, 1)))
"""
REDUCE = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean, "abs_max": lambda x, **k: np.abs(x).max(**k)}


def rows(dtype, kind, x, threads, tolerance=0):
    with np.errstate(all="ignore"):
        want = REDUCE[kind](x, axis=1, keepdims=True).astype(x.dtype)
    text = ROWS.format(rows=x.shape[0], columns=x.shape[1], threads=threads, dtype=dtype, kind=kind)
    check.run(text, {"x": x}, {"y": (want, tolerance, 0)})


for threads in (64, 96, 128):  # every kind over warps: of ones, added partial results give 2, 3, 4
    for kind in ("max", "min", "abs_max", "mean"):
        rows("f32", kind, np.stack([np.ones(threads), -np.ones(threads)]).astype(np.float32), threads)

# The least and the greatest of each type in all places: what starts lower or higher than everything wins over nothing.
ENDS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
for dtype, real in ENDS.items():
    info = np.iinfo(real)
    x = np.stack([np.full(48, end, real) for end in (info.min, info.max, info.max - 3, info.min + 3)])
    rows(dtype, "max", x, 48)
    rows(dtype, "min", x, 48)
FINITE = {"f16": (np.float16, 65504), "bf16": (np.float32, 3.3895313892515355e38), "fp8e4m3": (np.float32, 448), "fp8e5m2": (np.float32, 57344),
          "f32": (np.float32, np.finfo(np.float32).max), "f64": (np.float64, np.finfo(np.float64).max)}
for dtype, (real, largest) in FINITE.items():
    x = np.stack([np.full(40, -largest), np.full(40, largest), np.full(40, -0.5), np.full(40, 0.25)]).astype(real)
    for kind in ("max", "min", "abs_max"):
        rows(dtype, kind, x, 40)
    if dtype not in ("fp8e4m3", "fp8e5m2"):
        x = np.stack([np.full(40, -np.inf), np.full(40, np.inf)]).astype(real)
        for kind in ("max", "min", "abs_max", "sum"):
            rows(dtype, kind, x, 40)

# One NaN, in each place of a row of 96 over 48 threads; of 64 over a warp, over one thread.
for columns, threads in ((96, 48), (64, 32), (5, 1)):
    x = rng.standard_normal((columns + 1, columns)).astype(np.float32)
    x[np.arange(columns), np.arange(columns)] = np.nan
    for kind in ("max", "min", "abs_max"):
        rows("f32", kind, x, threads)
    x = np.round(x * 4)
    rows("f32", "sum", x, threads)

# Two reductions in a row through one workspace, which then holds something else.
SHARED = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(2, 4, 128), "f32"], y: Tensor[(2, 4, 1), "f32"], z: Tensor[(128,), "f32"]):
    with Mesh((Topology("thread", 128),), Layout((128,)), ("t",)) as m:
        own = T.spread(m, (4, 128), 1)
        one = T.reduced(own, (4, 128), 1)
        ws = T.alloc_tensor(TensorType((16,), "f32", None, smem))
        a = T.alloc_tensor(TensorType((4, 128), "f32", own, rmem))
        b = T.alloc_tensor(TensorType((4, 128), "f32", own, rmem))
        r = T.alloc_tensor(TensorType((4, 1), "f32", one, rmem))
        q = T.alloc_tensor(TensorType((4, 1), "f32", one, rmem))
        T.copy(T.tensor_view(x, 0, 0, 0, shape=(4, 128), layout=own), a)
        T.copy(T.tensor_view(x, 1, 0, 0, shape=(4, 128), layout=own), b)
        for i in range(3):
            T.reduce(a, r, ws, axes=(1,), kind="sum")
            T.reduce(b, q, ws, axes=(1,), kind="abs_max")
        t = T.coord(m.t)
        if t % 9 == 0:
            T.store(ws, T.cast(t, "f32"), t // 9)
        T.sync(m)
        T.store(z, T.load(ws, t % 15), t)
        T.copy(r, T.tensor_view(y, 0, 0, 0, shape=(4, 1)))
        T.copy(q, T.tensor_view(y, 1, 0, 0, shape=(4, 1)))
"""
x = rng.integers(-99, 100, (2, 4, 128)).astype(np.float32)
y = np.stack([x[0].sum(1, keepdims=True), np.abs(x[1]).max(1, keepdims=True)])
for seed in range(5):
    check.run(SHARED, {"x": x}, {"y": (y, 0, 0), "z": ((np.arange(128) % 15 * 9).astype(np.float32), 0, 0)}, [f"--seed={seed}"] if seed else [])
