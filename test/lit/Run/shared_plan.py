# RUN: %python %s %tf-run %t
"""Shared memory up to the target's limit, and tiles that lie on the same bytes one after the other."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(43)

WHOLE = """from tilefoundry import *

@prim_func(target=CudaTarget("{target}"))
def turn(x: Tensor[({size},), "u8"], y: Tensor[({size},), "u8"]) -> None:
    with Mesh((Topology("thread", 128),), Layout(shape=(128,), strides=(1,)), ("t",)) as m:
        s = T.alloc_tensor(TensorType(shape=({size},), dtype="u8", storage=smem))
        for i in range(T.coord(m.t), {size}, 128):
            T.store(s, T.load(x, i), i)
        T.sync(m)
        for i in range(T.coord(m.t), {size}, 128):
            T.store(y, T.load(s, {size} - 1 - i), i)
"""
for size, target in ((49152, "sm_80"), (49153, "sm_80"), (65536, "sm_75"), (166912, "sm_80")):
    x = rng.integers(0, 256, size).astype(np.uint8)
    check.run(WHOLE.format(size=size, target=target), {"x": x}, {"y": (x[::-1], 0, 0)})

# Two tiles in each of two inlined copies, and a loop around them: all four share bytes, nothing meets.
TILES = """from tilefoundry import *

@prim_func(target=CudaTarget("sm_80"))
def stage(x: Tensor[(96,), "i32"], y: Tensor[(96,), "i32"]) -> None:
    with Mesh((Topology("thread", 96),), Layout(shape=(96,), strides=(1,)), ("t",)) as m:
        t = T.coord(m.t)
        first = T.alloc_tensor(TensorType(shape=(96,), dtype=DType.i32, storage=smem))
        second = T.alloc_tensor(TensorType(shape=(96,), dtype=DType.i32, storage=smem))
        T.store(first, T.load(x, t) * 3, t)
        T.sync(m)
        v = T.load(first, 95 - t)
        T.sync(m)
        T.store(second, v + 1, t)
        T.sync(m)
        T.store(y, T.load(second, (t + 7) % 96), t)
        T.sync(m)

@prim_func(target=CudaTarget("sm_80"))
def stages(n: Tensor[(), "i32"], x: Tensor[(96,), "i32"], y: Tensor[(96,), "i32"]) -> None:
    with Mesh((Topology("thread", 96),), Layout(shape=(96,), strides=(1,)), ("t",)) as m:
        for i in range(n):
            stage(x, y)
            stage(y, x)
"""


def stage(x):
    return np.roll(x[::-1] * 3 + 1, -7)


for rounds in (0, 1, 3):
    x = rng.integers(-9, 10, 96).astype(np.int32)
    y = rng.integers(-9, 10, 96).astype(np.int32)
    a, b = x, y
    for _ in range(rounds):
        b = stage(a)
        a = stage(b)
    for options in ((), ("--seed=1",), ("--seed=2",)):
        check.run(TILES, {"n": rounds, "x": x, "y": y}, {"x": (a, 0, 0), "y": (b, 0, 0)}, options)
