"""Small programs in which several ops meet: statistics that are broadcast back, stencils, device calls, batched products."""
import numpy as np

from arithmetic import round_float
from case import Case, generator, mesh, tensor


def layer_norm_cases():
    """Two reductions whose results broadcast over the fragment that they come from, rows over lanes or over the whole block."""
    for dtype, rows, columns, a, b in (("f32", 4, 96, 4, 32), ("bf16", 2, 128, 2, 16), ("f32", 1, 768, 1, 96), ("f16", 8, 24, 8, 8)):
        name = f"layer-norm-{dtype}-{rows}x{columns}"
        rng = generator(name)
        x = round_float(dtype, rng.standard_normal((rows, columns)) * 3 + 5)
        w, d = round_float(dtype, rng.standard_normal(columns)), round_float(dtype, rng.standard_normal(columns))
        wide = x.astype(np.float64)
        centred = wide - wide.mean(axis=1, keepdims=True)
        want = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + d
        body = f"""
with Mesh((Topology("thread", {a * b}),), Layout(shape=({a}, {b}), strides=({b}, 1)), ("a", "b")) as m:
    own = ShardLayout(layout=Layout(shape=({a}, {rows // a}, {columns // b}, {b}), strides=({rows // a * columns}, {columns}, {b}, 1)), attrs=(Split(0), Split(3)), mesh=m)
    one = T.reduced(own, ({rows}, {columns}), 1)
    v = T.alloc_tensor(TensorType(shape=({rows}, {columns}), dtype=DType.f32, layout=own, storage=rmem))
    s = T.alloc_tensor(TensorType(shape=({rows}, {columns}), dtype=DType.f32, layout=own, storage=rmem))
    r = T.alloc_tensor(TensorType(shape=({rows}, 1), dtype=DType.f32, layout=one, storage=rmem))
    T.unary(T.tensor_view(x, layout=own), v, kind="cast")
    T.reduce(v, r, axes=(1,), kind="mean")
    T.binary(v, r, v, kind="sub")
    T.unary(v, s, kind="square")
    T.reduce(s, r, axes=(-1,), kind="mean")
    T.binary(r, 1e-5, r, kind="add")
    T.unary(r, r, kind="rsqrt")
    T.binary(v, r, v, kind="mul")
    T.fma(v, w, d, T.tensor_view(y, layout=own))
"""
        tolerance = {"f32": 1e-5, "f16": 2.0**-10, "bf16": 2.0**-7}[dtype]
        yield Case(name, ("reduce", "fma", "binary", "unary"), [("x", tensor((rows, columns), dtype)), ("w", tensor((columns,), dtype)), ("d", tensor((columns,), dtype)), ("y", tensor((rows, columns), dtype))],
                   body, {"x": x, "w": w, "d": d}, {"y": (round_float(dtype, want), tolerance, tolerance)}, ci=True)


def stencil_cases():
    """Five points of a grid whose outside reads as 0: windows that start at -1."""
    for rows, columns in ((1, 1), (13, 29), (32, 31)):
        name = f"stencil-{rows}x{columns}"
        x = generator(name).integers(-99, 99, (rows, columns)).astype(np.int32)
        p = np.pad(x, 1)
        want = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x
        body = f"""
with {mesh(64)} as m:
    own = T.spread(m, (4, 32), 1)
    acc = T.alloc_tensor(TensorType(shape=(4, 32), dtype=DType.i32, layout=own, storage=rmem))
    for i in range(0, {rows}, 4):
        T.binary(T.tensor_view(x, i, 0, shape=(4, 32), layout=own, clip=0), -4, acc, kind="mul")
        for d in range(-1, 2, 2):
            T.binary(acc, T.tensor_view(x, i + d, 0, shape=(4, 32), layout=own, clip=0), acc, kind="add")
            T.binary(acc, T.tensor_view(x, i, d, shape=(4, 32), layout=own, clip=0), acc, kind="add")
        T.copy(acc, T.tensor_view(y, i, 0, shape=(4, 32), layout=own, clip=0))
"""
        yield Case(name, ("tensor_view", "binary"), [("x", tensor((rows, columns), "i32")), ("y", tensor((rows, columns), "i32"))], body, {"x": x},
                   {"y": (want, 0, 0)}, ci=True)


def call_cases():
    """A device function called for two windows of the caller's tensors; what it returns in scope does not end the caller."""
    helper = """
@prim_func(target=CudaTarget("sm_80"))
def $half(p: Tensor[(8,), "f32"], q: Tensor[(8,), "f32"], s: Tensor[(), "f32"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("t",)) as m:
        if T.coord(m.t) >= 8:
            return
        T.store(q, T.load(p, 7 - T.coord(m.t)) * s, T.coord(m.t))
"""
    body = """
$half(T.tensor_view(x, 0, 0, shape=(8,)), T.tensor_view(y, 1, 0, shape=(8,)), 2.0)
$half(T.tensor_view(x, 1, 0, shape=(8,)), T.tensor_view(y, 0, 0, shape=(8,)), -0.5)
"""
    x = generator("call").standard_normal((2, 8)).astype(np.float32)
    want = np.stack([x[1, ::-1] * np.float32(-0.5), x[0, ::-1] * 2])
    yield Case("call-windows", ("load", "tensor_view"), [("x", tensor((2, 8), "f32")), ("y", tensor((2, 8), "f32"))], body, {"x": x}, {"y": (want, 0, 0)},
               statics=helper, ci=True)


def batched_cases():
    """Products of a batch in a loop, sizes that the tile does not divide, operands clipped on their way into shared memory."""
    for m, n, k in ((16, 8, 16), (13, 5, 21), (33, 31, 50)):
        name = f"batched-{m}x{n}x{k}"
        rng = generator(name)
        a, b = rng.integers(-5, 6, (3, m, k)).astype(np.float16), rng.integers(-5, 6, (3, k, n)).astype(np.float16)
        body = f"""
atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32F16F16F32_TN)
tile = T.cuda.mma.tile(atom, (32, 32, 16), (2, 2))
with tile.required_scope as block:
    at = T.alloc_tensor(TensorType(shape=(32, 16), dtype=DType.f16, storage=smem))
    bt = T.alloc_tensor(TensorType(shape=(16, 32), dtype=DType.f16, storage=smem))
    acc = T.alloc_tensor(TensorType(shape=(32, 32), dtype=DType.f32, layout=tile.C, storage=rmem))
    a_own = T.spread(block, (32, 16), 2)
    b_own = T.spread(block, (16, 32), 2)
    for i in range(3):
        for r in range(0, {m}, 32):
            T.fill(acc, 0.0)
            for j in range(0, {k}, 16):
                T.sync(block)
                T.copy(T.tensor_view(a, i, r, j, shape=(32, 16), layout=a_own, clip=0.0), T.tensor_view(at, layout=a_own))
                T.copy(T.tensor_view(b, i, j, 0, shape=(16, 32), layout=b_own, clip=0.0), T.tensor_view(bt, layout=b_own))
                T.sync(block)
                T.mma(acc, at, bt, atom=tile)
            T.copy(acc, T.tensor_view(y, i, r, 0, shape=(32, 32), clip=0.0))
"""
        yield Case(name, ("mma", "sync"), [("a", tensor((3, m, k), "f16")), ("b", tensor((3, k, n), "f16")), ("y", tensor((3, m, n), "f32"))], body, {"a": a, "b": b},
                   {"y": (a.astype(np.float32) @ b.astype(np.float32), 0, 0)}, signs=False, ci=True)


def cases():
    yield from layer_norm_cases()
    yield from stencil_cases()
    yield from call_cases()
    yield from batched_cases()
