# RUN: %python %s %tf-run %t
"""Sizes that are known at launch on axes behind the first one: registers in different local orders, broadcast vectors, transposed
views, tiles of a grid whose both extents are open."""
import sys

import numpy as np

import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(77)
HEAD = """V = DimVar("V", 1, 4096)
W = DimVar("W", 1, 4096)


@prim_func(target=CudaTarget("sm_80"))
def k({}) -> None:
"""
# Four threads hold two rows of (8, 3, W) each, a CTA one column; `own` and `other` number the six elements differently.
COLUMNS = """    with Mesh((Topology("cta", W), Topology("thread", 4)), Layout(shape=(W, 4), strides=(4, 1)), ("c", "t")) as m:
        own = ShardLayout(layout=Layout((4, 2, 3, W)), attrs=(Split(3), Split(0)), mesh=m)
        other = ShardLayout(layout=Layout((3, 4, 2, W), (W, 6 * W, 3 * W, 1)), attrs=(Split(3), Split(1)), mesh=m)
        vector = ShardLayout(layout=Layout((3, W)), attrs=(Split(1), Broadcast()), mesh=m)
        r = T.alloc_tensor(TensorType((8, 3, W), "f32", own, rmem))
        q = T.alloc_tensor(TensorType((8, 3, W), "f32", other, rmem))
        u = T.alloc_tensor(TensorType((3, W), "f32", vector, rmem))
        T.copy(T.tensor_view(x, layout={source}), {first})
"""
# A tile of 8 rows and 4 columns a CTA, a row a thread.
TILES = """    with Mesh((Topology("cta", V * W), Topology("thread", 8)), Layout(shape=(V, W, 8), strides=(8 * W, 8, 1)), ("a", "c", "t")) as m:
        own = ShardLayout(layout=Layout((V, 8, W, 4)), attrs=(Split(0), Split(2), Split(1)), mesh=m)
        vector = ShardLayout(layout=Layout((W, 4)), attrs=(Broadcast(), Split(0), Broadcast()), mesh=m)
        r = T.alloc_tensor(TensorType((8 * V, 4 * W), "f32", own, rmem))
        u = T.alloc_tensor(TensorType((4 * W,), "f32", vector, rmem))
        T.copy(T.tensor_view(x, layout=own), r)
"""


def run(params, body, inputs, y):
    signature = ", ".join(f'{name}: Tensor[{shape}, "f32"]' for name, shape in params.items())
    text = HEAD.format(signature) + "".join(part if "    with" in part else f"        {part}\n" for part in body)
    check.run(text, inputs, {"y": (y, 0, 0)})


def columns(source, first):
    return COLUMNS.format(source=source, first=first)


for w in (1, 6, 37):
    x, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((8, 3, w), (8, 3, 1), (3, w)))
    same = {"x": "(8, 3, W)", "y": "(8, 3, W)"}
    run(same, [columns("own", "r"), "T.copy(r, q)", "T.unary(q, r, kind=\"neg\")", "T.copy(r, T.tensor_view(y, layout=own))"], {"x": x}, -x)
    run(same, [columns("other", "q"), "T.copy(q, r)", "T.copy(r, T.tensor_view(y, layout=own))"], {"x": x}, x)
    run(same | {"b": "(8, 3, 1)", "c": "(3, W)"},
        [columns("own", "r"), 'T.binary(r, b, q, kind="mul")', 'T.binary(q, c, q, kind="add")', 'T.binary(q, r, r, kind="add")', "T.copy(r, q)",
         "T.copy(q, T.tensor_view(y, layout=other))"], {"x": x, "b": b, "c": c}, x * b + c + x)
    run(same | {"c": "(3, W)"},
        [columns("own", "q"), "T.copy(T.tensor_view(c, layout=vector), u)", 'T.binary(q, u, r, kind="add")', "T.copy(r, T.tensor_view(y, layout=own))"],
        {"x": x, "c": c}, x + c)
    run({"x": "(8, 3, W)", "y": "(W, 3, 8)"}, [columns("other", "q"), "T.copy(q, T.tensor_view(y, layout=Layout((8, 3, W), (1, 8, 24))))"],
        {"x": x}, x.transpose(2, 1, 0).copy())
    v = 3
    x = rng.standard_normal((8 * v, 4 * w)).astype(np.float32)
    b, c = x[0].copy(), x[:, :1].copy()
    run({"x": "(8 * V, 4 * W)", "b": "(4 * W,)", "c": "(8 * V, 1)", "y": "(8 * V, 4 * W)"},
        [TILES, "T.copy(T.tensor_view(b, layout=vector), u)", 'T.binary(r, u, r, kind="add")', 'T.binary(r, c, r, kind="mul")',
         'T.binary(r, b, r, kind="sub")', "T.copy(r, T.tensor_view(y, layout=own))"], {"x": x, "b": b, "c": c}, (x + b) * c - b)
    x, z = rng.standard_normal((5, w)).astype(np.float32), rng.standard_normal((w, 5)).astype(np.float32)
    run({"x": "(V, W)", "z": "(W, V)", "y": "(V, W)"},
        ['    with Mesh((Topology("thread", 4),), Layout(shape=(4,)), ("t",)) as m:\n',
         'T.binary(x, T.tensor_view(z, layout=Layout((V, W), (1, V))), y, kind="add")'], {"x": x, "z": z}, x + z.T)
