# RUN: %python %s %tf-run %t
"""Operands that are distributed in different ways over CTAs and threads, with sizes that are only known at launch."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(31)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# A row of weights that every CTA holds, dealt to its threads as the columns of the rows are; S CTAs.
WEIGHTS = """
S = DimVar("S", 1, 1048576)
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(S, 1536), "f32"], w: Tensor[(1536,), "f32"], y: Tensor[(S, 1536), "f32"], z: Tensor[(S, 1536), "f32"]):
    with Mesh((Topology("cta", S), Topology("thread", 128)), Layout(shape=(S, 4, 32), strides=(128, 32, 1)), ("row", "w", "l")) as m:
        own = ShardLayout(layout=Layout(shape=(S, 1536), strides=(1536, 1)), attrs=(Split(0), Split(1), Split(1)), mesh=m)
        scale = ShardLayout(layout=Layout(shape=(1536,), strides=(1,)), attrs=(Broadcast(), Split(0), Split(0)), mesh=m)
        v = T.alloc_tensor(TensorType(shape=(S, 1536), dtype="f32", layout=own, storage=rmem))
        u = T.alloc_tensor(TensorType(shape=(S, 1536), dtype="f32", layout=own, storage=rmem))
        ws = T.alloc_tensor(TensorType(shape=(1536,), dtype="f32", layout=scale, storage=rmem))
        T.copy(T.tensor_view(x, layout=own), v)
        T.copy(T.tensor_view(w, layout=scale), ws)
        T.binary(v, ws, u, kind="mul")
        T.copy(u, T.tensor_view(y, layout=own))
        T.rms_norm(v, v, ws, eps=1e-5)
        T.copy(v, T.tensor_view(z, layout=own))
"""
for rows in (1, 5):
    x, w = normal(rows, 1536), normal(1536)
    wide = x.astype(np.float64)
    norm = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * w
    check.run(WEIGHTS, {"x": x, "w": w}, {"y": (x * w, 0, 0), "z": (norm.astype(np.float32), 1e-5, 1e-6)})

# Clipped windows with strides over tensors of any size, narrower and wider than the window.
CLIPPED = """
N = DimVar("N", 1, 4096)
K = DimVar("K", 1, 4096)
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(N,), "f32"], y: Tensor[(N,), "f32"], a: Tensor[(N, K), "f32"], b: Tensor[(N, K), "f32"]):
    with Mesh((Topology("cta", 4), Topology("thread", 32)), Layout(shape=(4, 32), strides=(32, 1)), ("c", "t")) as m:
        own = ShardLayout(layout=Layout(shape=(32,), strides=(1,)), attrs=(Broadcast(), Split(0)), mesh=m)
        i = T.coord(m.c) * 32
        v = T.alloc_tensor(TensorType(shape=(32,), dtype="f32", layout=own, storage=rmem))
        T.copy(T.tensor_view(x, i, shape=(32,), layout=own, clip=0.0), v)
        T.unary(v, v, kind="neg")
        T.copy(v, T.tensor_view(y, i, shape=(32,), layout=own, clip=0.0))
        rows = ShardLayout(layout=Layout(shape=(8, 4, 32), strides=(4 * K, K, 1)), attrs=(Broadcast(), Split(2)), mesh=m)
        T.copy(T.tensor_view(a, i, 0, shape=(32, 32), layout=rows, clip=0.0), T.tensor_view(b, i, 0, shape=(32, 32), layout=rows, clip=0.0))
"""
for n, k in ((70, 20), (20, 32), (101, 7), (128, 1), (1, 31)):
    x, a = normal(n), normal(n, k)
    check.run(CLIPPED, {"x": x, "a": a}, {"y": (-x, 0, 0), "b": (a, 0, 0)})

# Replicated stores: over whole blocks, over one of two mesh axes, of plain registers; by cp.async, where several writers would
# race; and under a condition that leaves the first replica out.
REPLICAS = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(16, 32), "f32"], y: Tensor[(16, 32), "f32"], p: Tensor[(8,), "f32"], q: Tensor[(16, 32), "f32"], c: Tensor[(8,), "f32"]):
    with Mesh((Topology("thread", 128),), Layout(shape=(4, 32)), ("w", "l")) as m:
        s = T.alloc_tensor(TensorType(shape=(16, 32), dtype="f32", storage=smem))
        both = ShardLayout(layout=Layout(shape=(2, 2, 8, 16), strides=(256, 16, 32, 1)), attrs=(Broadcast(), Broadcast()), mesh=m)
        cols = ShardLayout(layout=Layout(shape=(16, 32)), attrs=(Broadcast(), Split(1)), mesh=m)
        T.copy_async(T.tensor_view(x, layout=both), T.tensor_view(s, layout=both))
        T.cp_async_commit()
        T.cp_async_wait(0)
        T.sync(m)
        v = T.alloc_tensor(TensorType(shape=(16, 32), dtype="f32", layout=cols, storage=rmem))
        T.copy(T.tensor_view(s, layout=cols), v)
        T.unary(v, v, kind="neg")
        T.copy(v, T.tensor_view(y, layout=cols))
        r = T.alloc_tensor(TensorType(shape=(8,), dtype="f32", storage=rmem))
        T.fill(r, 2.5)
        T.copy(r, p)
        if T.coord(m.w) == 2:
            T.copy(v, T.tensor_view(q, layout=cols))
            T.copy(r, c)
"""
x, same = normal(16, 32), np.full(8, 2.5, np.float32)
check.run(REPLICAS, {"x": x}, {"y": (-x, 0, 0), "p": (same, 0, 0), "q": (-x, 0, 0), "c": (same, 0, 0)})

# A thread holds some rows and sees some columns: it stores where they meet.
OVERLAP = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(8, 32), "f32"], y: Tensor[(8, 32), "f32"], h: Tensor[(8, 32), "f16"]):
    with Mesh((Topology("thread", 64),), Layout(shape=(2, 32)), ("w", "l")) as m:
        rows = ShardLayout(layout=Layout(shape=(8, 32)), attrs=(Split(0), Broadcast()), mesh=m)
        cols = ShardLayout(layout=Layout(shape=(8, 32)), attrs=(Broadcast(), Split(1)), mesh=m)
        v = T.alloc_tensor(TensorType(shape=(8, 32), dtype="f32", layout=rows, storage=rmem))
        T.copy(T.tensor_view(x, layout=rows), v)
        T.copy(v, T.tensor_view(y, layout=cols))
        T.unary(v, T.tensor_view(h, layout=cols), kind="cast")
"""
x = normal(8, 32)
check.run(OVERLAP, {"x": x}, {"y": (x, 0, 0), "h": (x.astype(np.float16), 0, 0)})

# Threads that return from a loop do not take part in the next trip: the rest copies the whole row.
LEAVING = """
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i64"], x: Tensor[(4, 64), "f32"], y: Tensor[(4, 64), "f32"], z: Tensor[(4, 64), "f32"]):
    with Mesh((Topology("thread", 64),), Layout(shape=(64,)), ("t",)) as m:
        i = T.alloc_tensor(TensorType(shape=(1,), dtype="i64", storage=rmem))
        T.fill(i, 0)
        for j in range(n):
            T.copy(T.tensor_view(x, j, 0, shape=(1, 64)), T.tensor_view(y, j, 0, shape=(1, 64)))
            while T.load(i, 0) < j:
                T.store(i, j, 0)
            T.copy(T.tensor_view(x, j, 0, shape=(1, 64)), T.tensor_view(z, j, 0, shape=(1, 64)))
            if T.coord(m.t) < 60:
                return
"""
x = normal(4, 64)
check.run(LEAVING, {"n": 4, "x": x}, {"y": (x, 0, 0), "z": (x, 0, 0)})

# Replicas along some axes only, at places that the others choose: buffers of warps filled by all lanes, by all threads under a
# mesh of warps, and one tile by the lanes of every warp.
WARPS = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(3, 5, 64), "f32"], y: Tensor[(3, 5, 64), "f32"], z: Tensor[(3, 5, 64), "f32"], t: Tensor[(5, 64), "f32"]):
    with Mesh((Topology("warp", 3),), Layout(shape=(3,)), ("v",)) as v:
        own = ShardLayout(layout=Layout(shape=(3, 5, 64), strides=(0, 64, 1)), attrs=(Split(0),), mesh=v)
        rows = ShardLayout(layout=Layout(shape=(3, 5, 64), strides=None), attrs=(Split(0),), mesh=v)
        s = T.alloc_tensor(TensorType(shape=(3, 5, 64), dtype="f32", layout=own, storage=smem))
        p = T.alloc_tensor(TensorType(shape=(3, 5, 64), dtype="f32", storage=smem))
        q = T.alloc_tensor(TensorType(shape=(5, 64), dtype="f32", storage=smem))
        T.copy_async(T.tensor_view(x, layout=rows), T.tensor_view(p, layout=rows))
        with Mesh((Topology("thread", 32),), Layout(shape=(8, 4)), ("a", "b")) as m:
            cut = ShardLayout(layout=Layout(shape=(5, 8, 8)), attrs=(Split(1), Broadcast()), mesh=m)
            mine = T.tensor_view(x, T.coord(v.v), 0, 0, shape=(5, 64), layout=cut)
            T.copy_async(mine, T.tensor_view(s, shape=(5, 64), layout=cut))
            T.copy_async(T.tensor_view(x, 1, 0, 0, shape=(5, 64), layout=cut), T.tensor_view(q, layout=cut))
            T.cp_async_commit()
            T.cp_async_wait(0)
        T.sync(v)
        T.copy(T.tensor_view(p, layout=rows), T.tensor_view(y, layout=rows))
        with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("l",)) as l:
            deal = T.spread(l, (5, 64), 2)
            T.copy(T.tensor_view(s, shape=(5, 64), layout=deal), T.tensor_view(z, T.coord(v.v), 0, 0, shape=(5, 64), layout=deal))
        T.copy(q, t)
"""
x = normal(3, 5, 64)
check.run(WARPS, {"x": x}, {"y": (x, 0, 0), "z": (x, 0, 0), "t": (x[1], 0, 0)})

# 48 threads of each CTA combine their parts, along rows and along columns that CTAs share out.
UNEVEN = """
S = DimVar("S", 1, 4096)
@prim_func(target=CudaTarget("sm_80"))
def rows(x: Tensor[(S, 48), "f32"], y: Tensor[(S, 1), "f32"], z: Tensor[(S, 48), "f32"]):
    with Mesh((Topology("cta", S), Topology("thread", 48)), Layout(shape=(S, 48)), ("r", "t")) as m:
        own = ShardLayout(layout=Layout(shape=(S, 48)), attrs=(Split(0), Split(1)), mesh=m)
        one = ShardLayout(layout=Layout(shape=(S, 1)), attrs=(Split(0), Broadcast()), mesh=m)
        v = T.alloc_tensor(TensorType(shape=(S, 48), dtype="f32", layout=own, storage=rmem))
        s = T.alloc_tensor(TensorType(shape=(S, 1), dtype="f32", layout=T.reduced(own, (S, 48), 1), storage=rmem))
        T.copy(T.tensor_view(x, layout=own), v)
        T.reduce(v, T.tensor_view(y, layout=one), axes=(1,), kind="sum")
        T.reduce(v, s, axes=(1,), kind="max")
        T.binary(v, s, v, kind="sub")
        T.copy(v, T.tensor_view(z, layout=own))


@prim_func(target=CudaTarget("sm_80"))
def columns(x: Tensor[(48, 12), "f32"], y: Tensor[(1, 12), "f32"]):
    with Mesh((Topology("cta", 4), Topology("thread", 48)), Layout(shape=(4, 48)), ("c", "t")) as m:
        own = ShardLayout(layout=Layout(shape=(48, 12)), attrs=(Split(1), Split(0)), mesh=m)
        v = T.alloc_tensor(TensorType(shape=(48, 12), dtype="f32", layout=own, storage=rmem))
        T.copy(T.tensor_view(x, layout=own), v)
        T.reduce(v, T.tensor_view(y, layout=T.reduced(own, (48, 12), 0)), axes=(0,), kind="sum")
"""
x = normal(5, 48)
check.run(UNEVEN, {"x": x}, {"y": (x.sum(1, keepdims=True), 1e-5, 1e-5), "z": (x - x.max(1, keepdims=True), 0, 0)},
          ["--kernel=rows", "--grid=5", "--block=48"])
x = normal(48, 12)
check.run(UNEVEN, {"x": x}, {"y": (x.sum(0, keepdims=True), 1e-5, 1e-5)}, ["--kernel=columns", "--grid=4", "--block=48"])

# A barrier of each warp by itself does not end the life of a buffer: another warp may still be at it.
APART = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(2, 16, 32), "f32"], y: Tensor[(2, 16, 32), "f32"], z: Tensor[(2, 32), "f32"]):
    with Mesh((Topology("warp", 2),), Layout(shape=(2,)), ("v",)) as v:
        with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("l",)) as l:
            col = ShardLayout(layout=Layout(shape=(16, 32)), attrs=(Split(1),), mesh=l)
            row = ShardLayout(layout=Layout(shape=(32,)), attrs=(Split(0),), mesh=l)
            a = T.alloc_tensor(TensorType(shape=(2, 16, 32), dtype="f32", layout=ShardLayout(layout=Layout(shape=(2, 16, 32), strides=(0, 32, 1)), attrs=(Split(0),), mesh=v), storage=smem))
            b = T.alloc_tensor(TensorType(shape=(2, 32), dtype="f32", layout=ShardLayout(layout=Layout(shape=(2, 32), strides=(0, 1)), attrs=(Split(0),), mesh=v), storage=smem))
            T.copy(T.tensor_view(x, T.coord(v.v), 0, 0, shape=(16, 32), layout=col), T.tensor_view(a, shape=(16, 32), layout=col))
            T.sync(l)
            T.copy(T.tensor_view(a, shape=(16, 32), layout=T.spread(l, (16, 32), 4)), T.tensor_view(y, T.coord(v.v), 0, 0, shape=(16, 32), layout=T.spread(l, (16, 32), 4)))
            T.sync(l)
            T.copy(T.tensor_view(x, T.coord(v.v), 3, 0, shape=(32,), layout=row), T.tensor_view(b, shape=(32,), layout=row))
            T.sync(l)
            T.copy(T.tensor_view(b, shape=(32,), layout=row), T.tensor_view(z, T.coord(v.v), 0, shape=(32,), layout=row))
"""
x = normal(2, 16, 32)
check.run(APART, {"x": x}, {"y": (x, 0, 0), "z": (x[:, 3], 0, 0)})

# Integers over whole warps: sums that wrap, the largest and least of signed and unsigned numbers.
REDUX = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(4, 64), "{0}"], s: Tensor[(4, 1), "{0}"], b: Tensor[(4, 1), "{0}"], l: Tensor[(4, 1), "{0}"]):
    with Mesh((Topology("thread", 128),), Layout(shape=(4, 32)), ("r", "l")) as m:
        own = ShardLayout(layout=Layout(shape=(4, 64)), attrs=(Split(0), Split(1)), mesh=m)
        v = T.alloc_tensor(TensorType(shape=(4, 64), dtype="{0}", layout=own, storage=rmem))
        T.copy(T.tensor_view(x, layout=own), v)
        T.reduce(v, T.tensor_view(s, layout=T.reduced(own, (4, 64), 1)), axes=(1,), kind="sum")
        T.reduce(v, T.tensor_view(b, layout=T.reduced(own, (4, 64), 1)), axes=(1,), kind="max")
        T.reduce(v, T.tensor_view(l, layout=T.reduced(own, (4, 64), 1)), axes=(1,), kind="min")
"""
for dtype, real in (("i32", np.int32), ("u32", np.uint32), ("i8", np.int8), ("u16", np.uint16)):
    limits = np.iinfo(real)
    x = rng.integers(limits.min, limits.max, (4, 64), real, endpoint=True)
    total = x.astype(np.int64).sum(1, keepdims=True).astype(real)
    check.run(REDUX.format(dtype), {"x": x}, {"s": (total, 0, 0), "b": (x.max(1, keepdims=True), 0, 0), "l": (x.min(1, keepdims=True), 0, 0)})
