"""reduce and rms_norm: every kind and dtype over threads, lane groups, warps and strided groups, plain and with a workspace."""
import itertools

import numpy as np

from arithmetic import INT, is_float, round_float, sample, storage
from case import Case, generator, mesh, tensor

KINDS = ("sum", "mean", "max", "min", "abs_max")
DTYPES = ["f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i32", "u32", "i64"]
# rows and columns of threads, and what each of them holds; strides of the mesh: rows first or columns first
GROUPS = [(1, 32, 1, 4), (4, 8, 1, 3), (8, 4, 2, 2), (2, 16, 3, 1), (4, 32, 1, 2), (1, 128, 2, 1), (2, 64, 1, 5), (5, 6, 1, 2),
          (1, 48, 1, 1), (16, 3, 1, 2), (3, 32, 2, 1), (7, 1, 1, 9), (1, 1, 3, 7), (1, 96, 1, 2), (64, 2, 1, 1), (2, 48, 1, 2)]


def meets(group, across, axis):
    """Whether the threads that add up in this arrangement can: groups that cross warps have to make up whole warps together."""
    a, b = group[:2]
    ids = np.arange(a * b).reshape(b, a).T if across else np.arange(a * b).reshape(a, b)
    crossing = [g for g in (ids if axis % 2 else ids.T) if len({int(t) // 32 for t in g}) > 1]
    union = {int(t) for g in crossing for t in g}
    return union in (set(), set(range(a * b))) or all(set(range(w * 32, w * 32 + 32)) <= union for w in {t // 32 for t in union})


def accumulate(kind, dtype, x, axis):
    """What the reduction is in exact arithmetic, before the rounding into the result."""
    if kind == "abs_max":
        wide = np.abs(x.astype(np.int64 if dtype in INT else np.float64))
        return wide.max(axis=axis, keepdims=True)
    if kind in ("max", "min"):
        return getattr(x, kind)(axis=axis, keepdims=True)
    wide = x.astype(np.int64 if dtype in INT else np.float64)
    return wide.sum(axis=axis, keepdims=True) if kind == "sum" else wide.mean(axis=axis, keepdims=True)


def expected(kind, dtype, x, axis):
    with np.errstate(all="ignore"):
        value = accumulate(kind, dtype, x, axis)
        if is_float(dtype):
            return round_float(dtype, value)
        return np.trunc(value).astype(INT[dtype]) if kind == "mean" else value.astype(INT[dtype])


def _values(rng, kind, dtype, shape):
    """Small integers, so that sums are exact in any order; extremes where only order counts."""
    n = int(np.prod(shape))
    if kind in ("max", "min", "abs_max"):
        x = sample(rng, dtype, n)
        if is_float(dtype):  # NaN in some of the rows only
            x = np.where(np.isnan(x) & (rng.integers(0, 2, n) > 0), 0, x).astype(x.dtype)
        if dtype in INT and kind == "abs_max":
            x = np.where(x == np.iinfo(INT[dtype]).min, 1, x).astype(x.dtype)
        return x.reshape(shape)
    low, high = (-3, 4) if dtype[0] != "u" else (0, 4)
    return rng.integers(low, high, shape).astype(storage(dtype))


def group_case(kind, dtype, group, across, axis, workspace):
    a, b, ra, cb = group
    rows, columns = a * ra, b * cb
    name = f"reduce-{kind}-{dtype}-{a}x{b}-{ra}x{cb}-{'across' if across else 'along'}-{axis}{'-ws' if workspace else ''}"
    x = _values(generator(name), kind, dtype, (rows, columns))
    out = (rows, 1) if axis in (1, -1) else (1, columns)
    accumulator = dtype if dtype in ("f64", "i64", "u64") else "f32" if is_float(dtype) else "u32" if dtype[0] == "u" else "i32"
    # One element a result and warp of the group; the bound of all warps is enough.
    lines = [f'ws = T.alloc_tensor(TensorType(shape=({out[0] * out[1] * 8},), dtype="{accumulator}", storage=smem))'] * workspace
    body = f"""
with Mesh((Topology("thread", {a * b}),), Layout(shape=({a}, {b}), strides={(1, a) if across else (b, 1)}), ("a", "b")) as m:
    own = ShardLayout(layout=Layout(shape=({a}, {ra}, {b}, {cb}), strides=({ra * columns}, {columns}, {cb}, 1)), attrs=(Split(0), Split(2)), mesh=m)
    one = T.reduced(own, ({rows}, {columns}), {axis % 2})
    v = T.alloc_tensor(TensorType(shape=({rows}, {columns}), dtype="{dtype}", layout=own, storage=rmem))
    r = T.alloc_tensor(TensorType(shape={out}, dtype="{dtype}", layout=one, storage=rmem))
    {lines[0] if lines else "pass"}
    T.copy(T.tensor_view(x, layout=own), v)
    T.reduce(v, r{", ws" if workspace else ""}, axes=({axis},), kind="{kind}")
    T.reduce(v, r{", ws" if workspace else ""}, axes=({axis},), kind="{kind}")
    T.copy(r, T.tensor_view(y, layout=one))
"""
    tolerance = 0
    if kind == "mean" and is_float(dtype):  # the division, or a product with the reciprocal
        tolerance = {"f64": 1e-15, "f32": 1.2e-7, "f16": 2.0**-11, "bf16": 2.0**-8}[dtype] * 2
    return Case(name, ("reduce",), [("x", tensor((rows, columns), dtype)), ("y", tensor(out, dtype))], body, {"x": x},
                {"y": (expected(kind, dtype, x, axis % 2), tolerance, tolerance)}, signs=False)


def group_cases():
    every = itertools.product(KINDS, DTYPES, GROUPS, (False, True), (0, 1, -1), (False, True))
    kept = {}
    for i, (kind, dtype, group, across, axis, workspace) in enumerate(every):
        count = kept.setdefault((kind, dtype), 0)
        if (i * 2654435761 >> 7) % 8 == 0 and meets(group, across, axis):  # one in eight, spread over all combinations
            case = group_case(kind, dtype, group, across, axis, workspace)
            case.ci = count < 2
            kept[kind, dtype] = count + 1
            yield case


def plain_cases():
    """Private tensors of one thread: any axes, the reduced ones kept or dropped, and nothing at all to reduce."""
    shapes = [((2, 3, 5), (0,)), ((2, 3, 5), (1,)), ((2, 3, 5), (0, 2)), ((2, 3, 5), (-1, 0, 1)), ((7,), (0,)), ((3, 0), (1,)), ((1, 1), (0, 1))]
    for i, (kind, dtype, (shape, axes), keep) in enumerate(itertools.product(KINDS, ("f32", "bf16", "i32"), shapes, (True, False))):
        whole = sorted(a % len(shape) for a in axes)
        dropped = tuple(n for a, n in enumerate(shape) if a not in whole) or (1,)
        out = tuple(1 if a in whole else n for a, n in enumerate(shape)) if keep else dropped
        if not keep and len(whole) == len(shape):
            continue
        name = f"reduce-plain-{kind}-{dtype}-{'x'.join(map(str, shape))}-{'_'.join(map(str, axes))}-{'keep' if keep else 'drop'}"
        x = _values(generator(name), kind, dtype, shape)
        if 0 in shape:
            if kind == "mean" and dtype == "i32":
                continue  # 0 / 0 as an integer
            identity = {"sum": 0, "abs_max": 0, "mean": np.nan}.get(kind)
            if identity is None:
                info = np.iinfo(np.int32)
                identity = (info.min if kind == "max" else info.max) if dtype == "i32" else (-np.inf if kind == "max" else np.inf)
            want = np.full(out, identity, storage(dtype))
        else:
            want = expected(kind, dtype, x, tuple(whole)).reshape(out)
        body = f"""
with {mesh(1)} as m:
    T.reduce(x, y, axes={axes if len(axes) > 1 else f"({axes[0]},)"}, kind="{kind}")
"""
        tolerance = 1e-2 if kind == "mean" and dtype == "bf16" else 1e-6 if kind == "mean" and dtype == "f32" else 0
        yield Case(name, ("reduce",), [("x", tensor(shape, dtype)), ("y", tensor(out, dtype))], body, {"x": x},
                   {"y": (want, tolerance, tolerance)}, signs=False, ci=i % 5 == 0 or 0 in shape and keep)


def special_cases():
    """Rows of -inf, of NaN, of equal values; 1 ... 48 over 48 threads; abs_max of ones over two warps; a clipped source."""
    x = np.full((4, 64), -np.inf, np.float32)
    x[1] = -7
    x[2, 40] = np.nan
    for kind in ("max", "min", "abs_max", "sum"):
        yield _lanes(f"reduce-special-{kind}", kind, x, 64)
    yield _lanes("reduce-1-to-48", "sum", np.arange(1, 49, dtype=np.float32)[None], 48)
    yield _lanes("reduce-ones", "abs_max", -np.ones((3, 64), np.float32), 64)
    body = """
with Mesh((Topology("thread", 64),), Layout(shape=(64,)), ("t",)) as m:
    own = T.spread(m, (1, 128), 2)
    r = T.alloc_tensor(TensorType(shape=(1, 1), dtype=DType.f32, layout=T.reduced(own, (1, 128), 1), storage=rmem))
    for i in range(3):
        T.reduce(T.tensor_view(x, i, 0, shape=(1, 128), layout=own, clip=2.0), r, axes=(1,), kind="sum")
        T.copy(r, T.tensor_view(y, i, 0, shape=(1, 1)))
"""
    x = generator("clip").integers(-50, 50, (3, 101)).astype(np.float32)
    yield Case("reduce-clip", ("reduce",), [("x", tensor((3, 101), "f32")), ("y", tensor((3, 1), "f32"))], body, {"x": x},
               {"y": (x.sum(axis=1, keepdims=True) + 54, 0, 0)}, ci=True, signs=False)


def _lanes(name, kind, x, threads):
    rows, columns = x.shape
    body = f"""
with {mesh(threads)} as m:
    own = T.spread(m, ({columns},), {columns // threads})
    v = T.alloc_tensor(TensorType(shape=({columns},), dtype=DType.f32, layout=own, storage=rmem))
    r = T.alloc_tensor(TensorType(shape=(1,), dtype=DType.f32, layout=T.reduced(own, ({columns},), 0), storage=rmem))
    for i in range({rows}):
        T.copy(T.tensor_view(x, i, 0, shape=({columns},), layout=own), v)
        T.reduce(v, r, axes=(0,), kind="{kind}")
        T.copy(r, T.tensor_view(y, i, shape=(1,)))
"""
    with np.errstate(all="ignore"):
        want = expected(kind, "f32", x, 1).reshape(rows)
    return Case(name, ("reduce",), [("x", tensor((rows, columns), "f32")), ("y", tensor((rows,), "f32"))], body, {"x": x},
                {"y": (want, 0, 0)}, ci=True, signs=False)


def rms_norm_cases():
    for i, (dtype, threads, width, eps) in enumerate(itertools.product(("f32", "f16", "bf16"), (1, 8, 32, 48, 128), (1, 3), ("1e-5", "0.5"))):
        columns = threads * width
        name = f"rms_norm-{dtype}-{threads}-{width}-{eps}"
        rng = generator(name)
        x = round_float(dtype, rng.standard_normal((2, columns)) * np.array([[1], [1e-3]]))
        w = round_float(dtype, rng.standard_normal(columns))
        wide = x.astype(np.float64)
        want = round_float(dtype, wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + float(eps)) * w)
        body = f"""
with {mesh(threads)} as m:
    own = T.spread(m, (2, {columns}), {width})
    T.rms_norm(T.tensor_view(x, layout=own), T.tensor_view(y, layout=own), w, eps={eps})
"""
        tolerance = {"f32": 1e-6, "f16": 2.0**-10, "bf16": 2.0**-7}[dtype]
        yield Case(name, ("rms_norm",), [("x", tensor((2, columns), dtype)), ("w", tensor((columns,), dtype)), ("y", tensor((2, columns), dtype))],
                   body, {"x": x, "w": w}, {"y": (want, tolerance, 1e-7)}, ci=i % 5 == 0)


def cases():
    yield from group_cases()
    yield from plain_cases()
    yield from special_cases()
    yield from rms_norm_cases()
