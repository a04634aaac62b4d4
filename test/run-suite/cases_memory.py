"""Views of views, spans, pointers, swizzled and padded shared tiles, clipped windows at every edge, copies between all storages,
asynchronous copies, 64-bit offsets in their arithmetic."""
import itertools

import numpy as np

from arithmetic import ALL, sample, storage
from case import Case, clip_value, generator, mesh, tensor


def case(name, ops, params, body, inputs, want, ci=True, **more):
    """params: (name, shape, dtype)"""
    return Case(name, ops, [(n, tensor(s, d)) for n, s, d in params], body, inputs, want, ci=ci, **more)


def window_cases():
    """A window of 6 x 8 anywhere around a 5 x 7 tensor: read with a clip value, written only inside."""
    for i, (dtype, (row, col)) in enumerate(itertools.product(ALL, ((0, 0), (-2, -3), (4, 6), (-6, 0), (2, -8), (5, 7), (1, 3)))):
        name = f"window-{dtype}-{row}-{col}"
        x = sample(generator(name), dtype, 35).reshape(5, 7)
        value = storage(dtype)(1)
        padded = np.full((5 + 40, 7 + 40), value, x.dtype)
        padded[20:25, 20:27] = x
        seen = padded[20 + row:26 + row, 20 + col:28 + col]
        canvas = np.full((5 + 40, 7 + 40), x[4, 6], x.dtype)
        canvas[20 + row:26 + row, 20 + col:28 + col] = x[0, 0]
        body = f"""
with {mesh(16)} as m:
    own = T.spread(m, (6, 8), 1)
    v = T.alloc_tensor(TensorType(shape=(6, 8), dtype="{dtype}", layout=own, storage=rmem))
    T.copy(T.tensor_view(x, {row}, {col}, shape=(6, 8), layout=own, clip={clip_value(dtype)}), v)
    T.copy(v, T.tensor_view(y, layout=own))
    T.fill(T.tensor_view(z, r, c, shape=(6, 8), layout=own, clip={clip_value(dtype)}), T.load(x, 0, 0))
"""
        z = np.full((5, 7), x[4, 6], x.dtype)
        yield case(name, ("tensor_view", "load"), [("x", (5, 7), dtype), ("y", (6, 8), dtype), ("z", (5, 7), dtype), ("r", (), "i32"), ("c", (), "i64")],
                   body, {"x": x, "z": z, "r": row, "c": col}, {"y": (seen, 0, 0), "z": (canvas[20:25, 20:27], 0, 0)}, ci=i % 7 == i // 7 % 7)


def view_cases():
    for dtype in ("f32", "bf16", "i8", "f64"):
        x = sample(generator(f"views-{dtype}"), dtype, 12 * 16).reshape(12, 16)
        flat = x.ravel()
        forms = {
            "window": ("T.tensor_view(x, 3, 5, shape=(4, 6))", x[3:7, 5:11]),
            "nested": ("T.tensor_view(T.tensor_view(x, 2, 4, shape=(8, 10)), 1, 3, shape=(4, 6))", x[3:7, 7:13]),
            "row": ("T.tensor_view(x, 5, 2, shape=(9,))", x[5, 2:11]),
            "reshape": ("T.tensor_view(x, shape=(6, 32))", x.reshape(6, 32)),
            "reshaped-window": ("T.tensor_view(T.tensor_view(x, shape=(6, 32)), 2, 7, shape=(3, 11))", x.reshape(6, 32)[2:5, 7:18]),
            "transposed": ("T.tensor_view(x, layout=Layout(shape=(16, 12), strides=(1, 16)))", x.T),
            "transposed-window": ("T.tensor_view(T.tensor_view(x, layout=Layout(shape=(16, 12), strides=(1, 16))), 3, 1, shape=(5, 7))", x.T[3:8, 1:8]),
            "flat": ("T.tensor_view(x, 37, shape=(20,))", flat[37:57]),
            "strided": ("T.tensor_view(T.tensor_view(x, shape=(192,)), layout=Layout(shape=(3, 64), strides=(1, 3)))", flat.reshape(64, 3).T),
            "span": ("T.tensor_view(T.memory_span(T.tensor_view(x, 2, 4, shape=(8, 10))), 1, 5, shape=(3, 4))", x[3:6, 9:13]),
            "pointer": ("T.tensor_view(T.ptr_of(T.tensor_view(x, 1, 3, shape=(8, 10))), 4, 0, shape=(2, 10))", x[5:7, 3:13]),
            "pointer-flat": ("T.tensor_view(T.ptr_of(x), layout=Layout(shape=(192,), strides=(1,)))", flat),
        }
        for form, (text, want) in forms.items():
            body = f"""
with {mesh(1)} as m:
    T.copy({text}, y)
"""
            yield case(f"view-{form}-{dtype}", ("tensor_view", "memory_span", "ptr_of", "copy"), [("x", x.shape, dtype), ("y", want.shape, dtype)], body,
                       {"x": x}, {"y": (want, 0, 0)}, ci=dtype in ("bf16", "f64"))


TILES = {"plain": "", "padded": "layout=Layout(shape=(32, 32), strides=(33, 1)), ", "columns": "layout=Layout(shape=(32, 32), strides=(1, 32)), ",
         "swizzled": "layout=ComposedLayout(Swizzle(3, 2, 3), 0, Layout(shape=(32, 32), strides=(32, 1))), ",
         "shifted": "layout=ComposedLayout(Swizzle(2, 3, 4), 0, Layout(shape=(32, 32), strides=(32, 1))), "}


def tile_cases():
    """Through a shared tile, written by rows and read in another window, order or distribution."""
    for dtype, (kind, layout), vec in itertools.product(("f32", "f16", "i8", "i64"), TILES.items(), (1, 4)):
        x = sample(generator(f"tile-{dtype}-{kind}"), dtype, 32 * 32).reshape(32, 32)
        body = f"""
with {mesh(64)} as m:
    own = T.spread(m, (32, 32), {vec})
    part = T.spread(m, (16, 8), 2)
    s = T.alloc_tensor(TensorType(shape=(32, 32), dtype="{dtype}", {layout}storage=smem))
    T.copy(T.tensor_view(x, layout=own), T.tensor_view(s, layout=own))
    T.sync(m)
    T.copy(T.tensor_view(s, layout=T.spread(m, (32, 32), 2)), T.tensor_view(y, layout=T.spread(m, (32, 32), 2)))
    for i in range(2):
        T.copy(T.tensor_view(s, 16 * i, 5 + 8 * i, shape=(16, 8), layout=part), T.tensor_view(z, i, 0, 0, shape=(16, 8), layout=part))
"""
        z = np.stack([x[:16, 5:13], x[16:, 13:21]])
        yield case(f"tile-{kind}-{dtype}-{vec}", ("tensor_view", "sync", "alloc_tensor"), [("x", (32, 32), dtype), ("y", (32, 32), dtype), ("z", (2, 16, 8), dtype)], body,
                   {"x": x}, {"y": (x, 0, 0), "z": (z, 0, 0)}, ci=vec == 4)


def async_cases():
    for dtype, columns, start, vec in itertools.product(("f32", "bf16", "u8", "f64"), (64, 61), (0, 8, 3), (1, 8)):
        name = f"async-{dtype}-{columns}-{start}-{vec}"
        x = sample(generator(name), dtype, 9 * columns, special=False).reshape(9, columns)
        want = np.zeros((9, 64), x.dtype)
        want[:, :columns - start] = x[:, start:]
        body = f"""
with {mesh(72)} as m:
    own = T.spread(m, (9, 64), {vec})
    s = T.alloc_tensor(TensorType(shape=(9, 64), dtype="{dtype}", storage=smem))
    T.copy_async(T.tensor_view(x, 0, {start}, shape=(9, 64), layout=own, clip=0), T.tensor_view(s, layout=own))
    T.cp_async_commit()
    T.cp_async_wait(0)
    T.sync(m)
    T.copy(T.tensor_view(s, layout=own), T.tensor_view(y, layout=own))
"""
        yield case(name, ("copy_async", "cp_async_commit", "cp_async_wait"), [("x", (9, columns), dtype), ("y", (9, 64), dtype)], body,
                   {"x": x}, {"y": (want, 0, 0)}, ci=vec == 8 and dtype != "f64")


def offset_cases():
    """Offsets that pass 2^31 on the way: 319 * 7,864,320 by i64 arithmetic, back inside the tensor before the access."""
    x = np.arange(40, dtype=np.int32)
    body = f"""
with {mesh(8)} as m:
    t = T.coord(m.t)
    T.store(y, T.load(x, big * 7864320 - 2508718070 + t), t)
    T.copy(T.tensor_view(x, big * 7864320 - 2508718060, shape=(8,), layout=T.spread(m, (8,), 1)), T.tensor_view(z, layout=T.spread(m, (8,), 1)))
"""
    yield case("offset-2^31", ("load", "coord"), [("x", (40,), "i32"), ("big", (), "i32"), ("y", (8,), "i32"), ("z", (8,), "i32")], body,
               {"x": x, "big": 319}, {"y": (x[10:18], 0, 0), "z": (x[20:28], 0, 0)})


def ownership_cases():
    """A tensor dealt out in one way and handed on in another, through shared memory; and fragments of matching owners."""
    for dtype, threads in itertools.product(("f32", "bf16"), (32, 64)):
        x = sample(generator(f"owners-{dtype}-{threads}"), dtype, 16 * threads).reshape(16, threads)
        body = f"""
with {mesh(threads)} as m:
    rows = ShardLayout(layout=Layout(shape=(16, {threads})), attrs=(Split(1),), mesh=m)
    blocks = ShardLayout(layout=Layout(shape=({16 * threads},), strides=(1,)), attrs=(Split(0),), mesh=m)
    v = T.alloc_tensor(TensorType(shape=(16, {threads}), dtype="{dtype}", layout=rows, storage=rmem))
    w = T.alloc_tensor(TensorType(shape=({16 * threads},), dtype="{dtype}", layout=blocks, storage=rmem))
    s = T.alloc_tensor(TensorType(shape=(16, {threads}), dtype="{dtype}", storage=smem))
    T.copy(T.tensor_view(x, layout=rows), v)
    T.copy(v, s)
    T.sync(m)
    T.copy(T.tensor_view(s, shape=({16 * threads},)), w)
    T.copy(w, T.tensor_view(y, layout=blocks))
"""
        yield case(f"owners-{dtype}-{threads}", ("copy",), [("x", (16, threads), dtype), ("y", (16 * threads,), dtype)], body, {"x": x}, {"y": (x.ravel(), 0, 0)})


def cases():
    yield from window_cases()
    yield from view_cases()
    yield from tile_cases()
    yield from async_cases()
    yield from offset_cases()
    yield from ownership_cases()
