# RUN: %python %s %tf-run %t
"""Asynchronous copies: every width, pitches and offsets that forbid the wide ones, clipped tails, dtypes that have no
asynchronous width at all, and a pipeline of three stages whose loop may be shorter than its depth."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(37)

THROUGH = """from tilefoundry import *

@prim_func(target=CudaTarget("{target}"))
def through(x: Tensor[({rows}, {pitch}), "{dtype}"], y: Tensor[({rows}, {width}), "{dtype}"]) -> None:
    with Mesh((Topology("thread", 64),), Layout(shape=(64,), strides=(1,)), ("t",)) as m:
        s = T.alloc_tensor(TensorType(shape=({rows}, {width}), dtype="{dtype}", storage=smem))
        own = T.spread(m, ({rows}, {width}), {chunk})
        T.copy_async(T.tensor_view(x, 0, {start}, shape=({rows}, {width}), layout=own{clip}), T.tensor_view(s, layout=own))
        T.cp_async_commit()
        T.cp_async_wait(0)
        T.sync(m)
        T.copy(T.tensor_view(s, layout=own), T.tensor_view(y, layout=own))
"""
NUMPY = {"f32": np.float32, "i8": np.int8, "f16": np.float16, "f64": np.float64, "i16": np.int16}


def data(dtype, shape):
    return rng.integers(-100, 100, shape).astype(NUMPY[dtype])


# dtype, row pitch, first column, width, chunk: 16 bytes, 8 (pitch), 8 (start), 4, 4 (pitch), then none: 2 and 1 bytes
for dtype, pitch, start, width, chunk in (("f32", 32, 0, 32, 4), ("f32", 34, 0, 32, 4), ("f32", 36, 2, 32, 4),
                                          ("f32", 36, 0, 32, 1), ("f32", 33, 1, 32, 4), ("f64", 20, 3, 16, 2),
                                          ("f16", 48, 8, 32, 8), ("f16", 33, 1, 32, 8), ("i8", 64, 16, 32, 16),
                                          ("i8", 40, 3, 32, 16), ("i16", 36, 2, 32, 2)):
    for target in ("sm_80", "sm_75"):
        text = THROUGH.format(target=target, dtype=dtype, rows=32, pitch=pitch, width=width, start=start, chunk=chunk, clip="")
        x = data(dtype, (32, pitch))
        check.run(text, {"x": x}, {"y": (x[:, start:start + width], 0, 0)})

# Tails: columns that the source lacks read as the clip value, also in the middle of a chunk.
for dtype, pitch, start, chunk, clip in (("f32", 40, 16, 4, "0"), ("f32", 37, 8, 4, "0.0"), ("f32", 40, 20, 1, "0"),
                                         ("f16", 39, 8, 8, "0"), ("f32", 40, 16, 4, "-1.5"), ("f64", 33, 4, 2, "0")):
    text = THROUGH.format(target="sm_80", dtype=dtype, rows=32, pitch=pitch, width=32, start=start, chunk=chunk,
                          clip=f", clip={clip}")
    x = data(dtype, (32, pitch))
    want = np.full((32, 32), float(clip), x.dtype)
    want[:, :pitch - start] = x[:, start:start + 32]
    check.run(text, {"x": x}, {"y": (want, 0, 0)})

PIPELINE = """from tilefoundry import *
S = DimVar("S", 1, 64)

@prim_func(target=CudaTarget("sm_80"))
def sums(x: Tensor[(S, 256), "f32"], y: Tensor[(256,), "f32"]) -> None:
    with Mesh((Topology("thread", 64),), Layout(shape=(64,), strides=(1,)), ("t",)) as m:
        stages = T.alloc_tensor(TensorType(shape=(3, 256), dtype=DType.f32, storage=smem))
        own = T.spread(m, (1, 256), 4)
        acc = T.alloc_tensor(TensorType(shape=(1, 256), dtype=DType.f32, layout=own, storage=rmem))
        row = T.alloc_tensor(TensorType(shape=(1, 256), dtype=DType.f32, layout=own, storage=rmem))
        T.fill(acc, 0.0)
        for i in range(2):
            if i < S:
                T.copy_async(T.tensor_view(x, i, 0, shape=(1, 256), layout=own), T.tensor_view(stages, i, 0, shape=(1, 256), layout=own))
            T.cp_async_commit()
        for i in range(S):
            if i + 2 < S:
                T.copy_async(T.tensor_view(x, i + 2, 0, shape=(1, 256), layout=own), T.tensor_view(stages, (i + 2) % 3, 0, shape=(1, 256), layout=own))
            T.cp_async_commit()
            T.cp_async_wait(2)
            T.sync(m)
            T.copy(T.tensor_view(stages, i % 3, 0, shape=(1, 256), layout=own), row)
            T.binary(acc, row, acc, kind="add")
            T.sync(m)
        T.copy(acc, T.tensor_view(y, layout=T.spread(m, (256,), 4)))
"""
for rows in (1, 2, 3, 4, 17):
    x = data("f32", (rows, 256))
    for options in ((), ("--seed=1",), ("--seed=2",)):
        check.run(PIPELINE, {"x": x}, {"y": (x.sum(axis=0), 0, 0)}, options)
