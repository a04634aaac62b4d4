# RUN: %python %s %tf-run %t
"""Every barrier of the table hands data on: block, one warp, lanes of a warp, lanes nested in warps, several named ones, the
grid's (twice in one launch, in one launch after another)."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(31)
HEAD = "from tilefoundry import *\n"


def run(text, args, want):
    """In the device's own order, and in three others: a missing barrier shows in one of them."""
    for options in ((), ("--seed=1",), ("--seed=2",), ("--seed=3",)):
        check.run(text, args, want, options)



def mesh(level, shape, strides, names):
    return f'Mesh((Topology("{level[0]}", {level[1]}),), Layout(shape={shape}, strides={strides}), {names})'


# Whole blocks, also of a size that is no multiple of a warp, and of one warp or less.
for threads in (32, 128, 17, 100):
    text = HEAD + f"""
@prim_func(target=CudaTarget("sm_80"))
def rotate(x: Tensor[({threads},), "f32"], y: Tensor[({threads},), "f32"]) -> None:
    with {mesh(("thread", threads), (threads,), (1,), ("t",))} as m:
        s = T.alloc_tensor(TensorType(shape=({threads},), dtype=DType.f32, storage=StorageKind.SMEM))
        t = T.coord(m.t)
        for i in range(3):
            T.store(s, T.load(x, t) + T.cast(i, "f32"), t)
            T.sync(m)
            if i == 2:
                T.store(y, T.load(s, (t + 5) % {threads}), t)
            T.sync(m)
"""
    x = rng.standard_normal(threads).astype(np.float32)
    run(text, {"x": x}, {"y": (np.roll(x + np.float32(2), -5), 0, 0)})

# Lanes [8, 16) of the second of two warps; then of every warp.
text = HEAD + f"""
@prim_func(target=CudaTarget("sm_80"))
def part(x: Tensor[(64,), "i32"], y: Tensor[(64,), "i32"]) -> None:
    with {mesh(("thread", 64), (64,), (1,), ("t",))} as m:
        s = T.alloc_tensor(TensorType(shape=(64,), dtype=DType.i32, storage=StorageKind.SMEM))
        t = T.coord(m.t)
        T.store(y, -1, t)
        T.store(s, T.load(x, t), t)
        T.sync(m[40:48])
        if t >= 40 and t < 48:
            T.store(y, T.load(s, 87 - t), t)
"""
x = np.arange(64, dtype=np.int32) * 7
y = np.full(64, -1, np.int32)
y[40:48] = x[40:48][::-1]
run(text, {"x": x}, {"y": (y, 0, 0)})

text = HEAD + f"""
@prim_func(target=CudaTarget("sm_80"))
def nested(x: Tensor[(96,), "i32"], y: Tensor[(96,), "i32"]) -> None:
    with {mesh(("warp", 3), (3,), (1,), ("w",))} as warps:
        with {mesh(("thread", 32), (32,), (1,), ("l",))} as lanes:
            s = T.alloc_tensor(TensorType(shape=(96,), dtype=DType.i32, storage=StorageKind.SMEM))
            t = T.coord(warps.w) * 32 + T.coord(lanes.l)
            T.store(y, -1, t)
            T.store(s, T.load(x, t), t)
            T.sync(lanes[8:16])
            if T.coord(lanes.l) >= 8 and T.coord(lanes.l) < 16:
                T.store(y, T.load(s, T.coord(warps.w) * 32 + 23 - T.coord(lanes.l)), t)
"""
x = np.arange(96, dtype=np.int32) * 5 + 1
y = np.full(96, -1, np.int32)
for w in range(0, 96, 32):
    y[w + 8:w + 16] = x[w + 8:w + 16][::-1]
run(text, {"x": x}, {"y": (y, 0, 0)})

# A chain of five warps over four named barriers, in a loop: ids stay with their statements.
text = HEAD + f"""
@prim_func(target=CudaTarget("sm_80"))
def chain(x: Tensor[(6, 32), "i32"], y: Tensor[(6, 32), "i32"]) -> None:
    with {mesh(("thread", 160), (5, 32), (32, 1), ("w", "l"))} as m:
        s = T.alloc_tensor(TensorType(shape=(5, 32), dtype=DType.i32, storage=StorageKind.SMEM))
        w = T.coord(m.w)
        l = T.coord(m.l)
        for i in range(6):
            if w == 0:
                T.store(s, T.load(x, i, l), 0, l)
            T.sync(m[0:2, :])
            if w == 1:
                T.store(s, T.load(s, 0, (l + 1) % 32) * 2, 1, l)
            T.sync(m[1:3, :])
            if w == 2:
                T.store(s, T.load(s, 1, (l + 1) % 32) + 3, 2, l)
            T.sync(m[2:4, :])
            if w == 3:
                T.store(s, T.load(s, 2, (l + 1) % 32) * 5, 3, l)
            T.sync(m[3:5, :])
            if w == 4:
                T.store(y, T.load(s, 3, (l + 1) % 32) - 7, i, l)
            T.sync(m)
"""
x = rng.integers(-1000, 1000, (6, 32)).astype(np.int32)
run(text, {"x": x}, {"y": (np.roll((x * 2 + 3) * 5 - 7, -4, axis=1), 0, 0)})

# The grid: each CTA reads what its neighbour wrote, twice; the host launches it two times with the same counters.
text = HEAD + """
C = 5

@module(entry="main")
class Grid:
    @prim_func(target=CudaTarget("sm_80"))
    def step(x: Tensor[(C, 48), "i32"], s: Tensor[(C, 48), "i32"], y: Tensor[(C, 48), "i32"]) -> None:
        with Mesh((Topology("cta", C),), Layout(shape=(C,), strides=(1,)), ("c",)) as grid:
            with Mesh((Topology("thread", 48),), Layout(shape=(48,), strides=(1,)), ("t",)) as m:
                c = T.coord(grid.c)
                t = T.coord(m.t)
                T.store(s, T.load(x, c, t) + 1, c, t)
                T.sync(grid)
                T.store(y, T.load(s, (c + 1) % C, (t + 1) % 48) * 2, c, t)
                T.sync(grid)
                T.store(s, T.load(y, (c + 2) % C, t), c, t)

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(C, 48), "i32"], s: Tensor[(C, 48), "i32"], y: Tensor[(C, 48), "i32"]) -> None:
        launch(step, x, s, y, grid=(C,), block=(12, 2, 2))
        launch(step, s, x, y, grid=(1, C), block=(48,))
"""


def step(x):
    y = np.roll(x + 1, (-1, -1), axis=(0, 1)) * 2
    return y, np.roll(y, -2, axis=0)


x = rng.integers(-1000, 1000, (5, 48)).astype(np.int32)
_, s = step(x)
y, x2 = step(s)
run(text, {"x": x}, {"y": (y, 0, 0), "x": (x2, 0, 0), "s": (s + 0, 0, 0)})
