# RUN: %python %s %tf-run %t
"""Groups of threads that combine: 2 to 31 lanes of a warp, counts that are no power of two, part of a warp while the rest is away,
the kept axis inside of the reduced one, warps that are no neighbours. Code that counts on 32 neighbouring lanes gets all of these
wrong, and lanes that are away add whatever they have."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(73)
KERNEL = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[({rows}, {columns}), "f32"], y: Tensor[({rows}, 1), "f32"], z: Tensor[({rows}, {columns}), "f32"]):
    with Mesh((Topology("thread", {threads}),), Layout({shape}, {strides}), ("r", "c"{more})) as m:
        own = ShardLayout(Layout({domain}), ({attrs}), m)
        v = T.alloc_tensor(TensorType(({rows}, {columns}), "f32", own, rmem))
        s = T.alloc_tensor(TensorType(({rows}, 1), "f32", T.reduced(own, ({rows}, {columns}), 1), rmem))
        T.copy(T.tensor_view(x, layout=own), v)
        T.reduce(v, s, axes=(1,), kind="{kind}")
        T.binary(v, s, v, kind="sub")
        T.copy(v, T.tensor_view(z, layout=own))
        T.reduce(v, T.tensor_view(y, layout=T.reduced(own, ({rows}, {columns}), 1)), axes=(1,), kind="{kind}")
"""


def reduced(kind, x):
    return {"sum": np.sum, "max": np.max, "min": np.min}[kind](x, axis=1, keepdims=True)


def run(rows, columns, shape, strides, kind, domain=None, attrs="Split(0), Split(1)"):
    x = rng.integers(-50, 51, (rows, columns)).astype(np.float32)
    z = x - reduced(kind, x)
    text = KERNEL.format(rows=rows, columns=columns, threads=int(np.prod(shape)), shape=shape, strides=strides, kind=kind,
                         domain=domain or (rows, columns), attrs=attrs, more=', "d"' if len(shape) == 3 else "")
    check.run(text, {"x": x}, {"y": (reduced(kind, z), 0, 0), "z": (z, 0, 0)})


for lanes in (2, 4, 8, 16):  # rows side by side in a warp, then the kept axis inside of the reduced one
    run(32 // lanes, lanes, (32 // lanes, lanes), (lanes, 1), "sum")
    run(32 // lanes, lanes, (32 // lanes, lanes), (1, 32 // lanes), "max")
for lanes in (3, 5, 6, 7, 10, 12, 24, 31):  # in a block of that many threads, or of several rows of it
    run(1, 3 * lanes, (1, lanes), (lanes, 1), "sum")
    if 32 // lanes > 1:
        run(32 // lanes, lanes, (32 // lanes, lanes), (lanes, 1), "min")
        run(32 // lanes, lanes, (32 // lanes, lanes), (1, 32 // lanes), "sum")
for threads in (33, 48, 80, 100, 224):  # more than a warp, no power of two
    run(1, threads, (1, threads), (threads, 1), "sum")
run(4, 64, (4, 64), (64, 1), "sum")  # neighbouring pairs of warps
run(4, 64, (4, 64), (1, 4), "sum")   # eight lanes out of each of eight warps
# Warps w, w + 2: groups of warps that are no neighbours. Columns are dealt to (half, lane).
run(2, 64, (2, 2, 32), (32, 64, 1), "sum", (2, 64), "Split(0), Split(1), Split(1)")
run(4, 64, (4, 2, 32), (32, 128, 1), "max", (4, 64), "Split(0), Split(1), Split(1)")

# The first lanes of a warp, while the others are elsewhere or do not exist; in the second warp only.
PART = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(2, 48), "i32"], y: Tensor[(6,), "i32"]):
    with Mesh((Topology("thread", 48),), Layout((48,)), ("t",)) as m:
        v = T.alloc_tensor(TensorType((1,), "i32", None, rmem))
        T.store(v, T.load(x, 0, T.coord(m.t)), 0)
        with m[0:12] as few:
            own = T.spread(few, (12,), 1)
            one = T.reduced(own, (12,), 0)
            T.reduce(T.tensor_view(x, 0, 0, shape=(12,), layout=own), T.tensor_view(y, 0, shape=(1,), layout=one), axes=(0,), kind="sum")
        with m[35:42] as few:
            own = T.spread(few, (7,), 1)
            one = T.reduced(own, (7,), 0)
            T.reduce(T.tensor_view(x, 1, 0, shape=(7,), layout=own), T.tensor_view(y, 1, shape=(1,), layout=one), axes=(0,), kind="sum")
            T.reduce(T.tensor_view(x, 1, 0, shape=(7,), layout=own), T.tensor_view(y, 2, shape=(1,), layout=one), axes=(0,), kind="max")
        with m[32:48] as warp:
            own = T.spread(warp, (48,), 3)
            one = T.reduced(own, (48,), 0)
            T.reduce(T.tensor_view(x, 1, 0, shape=(48,), layout=own), T.tensor_view(y, 3, shape=(1,), layout=one), axes=(0,), kind="min")
        own = T.spread(m, (48,), 1)
        T.reduce(T.tensor_view(x, 0, 0, shape=(48,), layout=own), T.tensor_view(y, 4, shape=(1,), layout=T.reduced(own, (48,), 0)), axes=(0,), kind="sum")
        T.reduce(T.tensor_view(x, 1, 0, shape=(48,), layout=own), T.tensor_view(y, 5, shape=(1,), layout=T.reduced(own, (48,), 0)), axes=(0,), kind="abs_max")
"""
x = np.stack([np.arange(1, 49), -rng.integers(1, 1000, 48)]).astype(np.int32)
want = [x[0, :12].sum(), x[1, :7].sum(), x[1, :7].max(), x[1].min(), 1176, np.abs(x[1]).max()]
for options in ((), ("--seed=1",), ("--seed=2",)):
    check.run(PART, {"x": x}, {"y": (np.array(want, np.int32), 0, 0)}, options)
