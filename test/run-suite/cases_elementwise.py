"""binary, unary, fma, select, iota, relu, clamp, copy, fill: every kind and dtype, in a distribution and size that rotate."""
import itertools
import math
from fractions import Fraction

import numpy as np

from arithmetic import ALL, BINARY, COMPARISONS, INT, UNARY, binary, common, is_float, round_float, sample, storage, unary
from case import COMBINATIONS, Case, elementwise, generator, mesh, tensor

FLOATS = ["f32", "f64", "f16", "bf16"]
PAIRS = [("i8", "u8"), ("i32", "u32"), ("u16", "i32"), ("i64", "u32"), ("f16", "bf16"), ("f32", "f16"), ("bf16", "f64"),
         ("i32", "f32"), ("i64", "f16"), ("u8", "bf16"), ("tf32", "f32"), ("fp8e4m3", "f16"), ("fp8e5m2", "fp8e4m3")]


def spread(name, make, per_name=4, ci=1):
    """make(mode, n) for some combinations of distribution and size, other ones for every name; the first of them for CI."""
    start = int(generator(name).integers(len(COMBINATIONS)))
    for i in range(per_name):
        case = make(*COMBINATIONS[(start + 11 * i) % len(COMBINATIONS)])
        case.ci = i < ci
        yield case


def _no_zero(dtype, x):
    """Divisors: no zeros in integers, and no -1 (the least value has no negative)."""
    return np.where((x == 0) | (x == INT[dtype](-1) if dtype[0] == "i" else x == 0), 3, x).astype(x.dtype) if dtype in INT else x


def binary_case(kind, a_dtype, b_dtype, dst, mode, n):
    name = f"binary-{kind}-{a_dtype}-{b_dtype}-{dst}"
    rng = generator(f"{name}{mode}{n}")
    a, b = sample(rng, a_dtype, n), sample(rng, b_dtype, n)
    if kind in ("floor_div", "mod"):
        b = _no_zero(b_dtype, b)
    if n > 8:
        b[n // 2] = a[n // 2].astype(b.dtype) if a_dtype == b_dtype and kind in COMPARISONS else b[n // 2]
    want = binary(kind, a, a_dtype, b, b_dtype, dst)
    return elementwise(name, ("binary", "tensor_view"), [("a", a_dtype, a), ("b", b_dtype, b)], [("y", dst, want, 0, 0)],
                       f'T.binary({{a}}, {{b}}, {{y}}, kind="{kind}")', mode, n, signs=kind in ("add", "sub", "mul", "div"))


def binary_types(kind):
    if kind in ("and", "or"):
        return [("bool", "bool", "bool")]
    dtypes = [*FLOATS, *INT] if kind != "div" else FLOATS
    pairs = [(d, d) for d in dtypes]
    if kind in ("add", "mul", "min", "lt", "eq"):
        pairs += [(d, d) for d in ("tf32", "fp8e4m3", "fp8e5m2", "f8e8m0")]
    if kind in ("add", "sub", "mul", "max", "lt", "ge"):
        pairs += PAIRS + [(b, a) for a, b in PAIRS[:6]]
    if kind in COMPARISONS:
        return [(a, b, "bool") for a, b in pairs] + ([("bool", "bool", "bool")] if kind in ("eq", "ne") else [])
    out = [(a, b, common(a, b)) for a, b in pairs]
    if kind in ("min", "max"):
        out.append(("bool", "bool", "bool"))
    if kind in ("add", "mul"):  # destinations wider and narrower than the operands
        out += [("f32", "f32", "bf16"), ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32", "f32", "fp8e4m3"), ("i32", "i32", "i64"),
                ("i32", "i32", "i8"), ("f64", "f64", "f16"), ("u8", "u8", "i32")]
    return out


def binary_cases():
    for kind in BINARY:
        for a, b, dst in binary_types(kind):
            yield from spread(f"binary-{kind}-{a}-{b}-{dst}", lambda mode, n: binary_case(kind, a, b, dst, mode, n))


def scalar_case(kind, dtype, form, mode, n):
    """One operand is a literal or a rank-0 parameter, on either side."""
    name = f"binary-scalar-{kind}-{dtype}-{form}"
    rng = generator(f"{name}{mode}{n}")
    x = sample(rng, dtype, n, special=is_float(dtype))
    if kind in ("floor_div", "mod") and form.endswith("left"):
        x = _no_zero(dtype, x)
    value = 3 if not is_float(dtype) else 2.5
    scalars = [("s", dtype, value)] if form.startswith("parameter") else []
    operand = "s" if scalars else repr(value)
    a, b = (operand, "{x}") if form.endswith("left") else ("{x}", operand)
    v = np.full(n, value, storage(dtype))
    want = binary(kind, *((v, dtype, x, dtype) if form.endswith("left") else (x, dtype, v, dtype)), dtype)
    return elementwise(name, ("binary",), [("x", dtype, x)], [("y", dtype, want, 0, 0)], f'T.binary({a}, {b}, {{y}}, kind="{kind}")',
                       mode, n, scalars=scalars, signs=False)


def scalar_cases():
    forms = ["literal-left", "literal-right", "parameter-left", "parameter-right"]
    for kind, dtype, form in itertools.product(("sub", "floor_div", "mod", "max"), ("f32", "bf16", "i32", "i64"), forms):
        yield from spread(f"scalar-{kind}-{dtype}-{form}", lambda mode, n: scalar_case(kind, dtype, form, mode, n), 2,
                          ci=int(dtype in ("bf16", "i64")))


TOLERANCE = {"f64": 4.5e-16, "f32": 3e-7, "f16": 2.0**-10, "bf16": 2.0**-7}
INEXACT = ("rsqrt", "exp", "log", "exp2", "log2")


def unary_case(kind, dtype, dst, mode, n):
    name = f"unary-{kind}-{dtype}-{dst}"
    rng = generator(f"{name}{mode}{n}")
    wide = 300 if kind == "cast" and n % 2 else None
    x = sample(rng, dtype, n, magnitude=wide)
    if kind in ("log", "log2", "rsqrt") and n > 2:
        x = np.where(rng.integers(0, 8, n) > 0, np.abs(x), x).astype(x.dtype)
    want = unary(kind, x, dtype, dst)
    tolerance = TOLERANCE[dst] if kind in INEXACT else 0
    return elementwise(name, ("unary",), [("x", dtype, x)], [("y", dst, want, tolerance, 1e-37 * (tolerance > 0))],
                       f'T.unary({{x}}, {{y}}, kind="{kind}")', mode, n, signs=kind in ("neg", "abs"))


def unary_cases():
    for kind in UNARY:
        dtypes = [*FLOATS, *([d for d in INT if d[0] == "i"] if kind in ("neg", "abs", "relu", "square") else [])]
        for dtype in dtypes:
            yield from spread(f"unary-{kind}-{dtype}", lambda mode, n: unary_case(kind, dtype, dtype, mode, n))
    yield from spread("unary-not", lambda mode, n: unary_case("not", "bool", "bool", mode, n))
    for source, target in itertools.product(ALL, ALL):
        if source != target:
            yield from spread(f"cast-{source}-{target}", lambda mode, n: unary_case("cast", source, target, mode, n), 2)


def fma(a, b, c, odd):
    """a*b + c in f64: to nearest even, or to odd, which a second rounding to a narrower type does not falsify."""
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(invalid="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    near = float(exact)
    if odd and Fraction(near) != exact and np.float64(near).view(np.uint64) % 2 == 0:
        near = float(np.nextafter(near, math.inf if exact > Fraction(near) else -math.inf))
    return near


def fma_case(dtype, mode, n):
    rng = generator(f"fma-{dtype}{mode}{n}")
    a, b, c = (sample(rng, dtype, n) for _ in range(3))
    if n > 20:  # a*b - 1 keeps only what a separate product would round away
        a[10], b[10], c[10] = (round_float(dtype, v) for v in (1 + 2.0**-5, 1 - 2.0**-5, -1.0))
    want = round_float(dtype, np.array([fma(*map(float, v), odd=dtype != "f64") for v in zip(a, b, c)]))
    return elementwise(f"fma-{dtype}", ("fma",), [("a", dtype, a), ("b", dtype, b), ("c", dtype, c)], [("y", dtype, want, 0, 0)],
                       "T.fma({a}, {b}, {c}, {y})", mode, n, signs=False)


def select_case(dtype, mode, n):
    rng = generator(f"select-{dtype}{mode}{n}")
    c, a, b = sample(rng, "bool", n), sample(rng, dtype, n), sample(rng, dtype, n)
    return elementwise(f"select-{dtype}", ("select",), [("c", "bool", c), ("a", dtype, a), ("b", dtype, b)],
                       [("y", dtype, np.where(c, a, b), 0, 0)], "T.select({c}, {a}, {b}, {y})", mode, n)


def relu_case(dtype, mode, n):
    x = sample(generator(f"relu-{dtype}{mode}{n}"), dtype, n)
    return elementwise(f"relu-{dtype}", ("relu",), [("x", dtype, x)], [("y", dtype, np.maximum(x, np.zeros(1, x.dtype)), 0, 0)],
                       "T.relu({x}, {y})", mode, n, signs=False)


def clamp_case(dtype, low, high, mode, n):
    x = sample(generator(f"clamp-{dtype}{low}{mode}{n}"), dtype, n)
    want = np.minimum(np.maximum(x, storage(dtype)(low)), storage(dtype)(high))
    return elementwise(f"clamp-{dtype}-{low}", ("clamp",), [("x", dtype, x)], [("y", dtype, want, 0, 0)],
                       f"T.clamp({{x}}, {{y}}, min_val={low}, max_val={high})", mode, n, signs=False)


def copy_case(dtype, mode, n):
    x = sample(generator(f"copy-{dtype}{mode}{n}"), dtype, n)
    return elementwise(f"copy-{dtype}", ("copy", "alloc_tensor", "tensor_view"), [("x", dtype, x)], [("y", dtype, x, 0, 0)],
                       "T.copy({x}, {y})", mode, n)


def fill_case(dtype, text, value, mode, n):
    scalars = [("s", dtype, value)] if text == "s" else []
    want = np.full(n, round_float(dtype, value) if is_float(dtype) else value, storage(dtype))
    return elementwise(f"fill-{dtype}-{text}", ("fill",), [], [("y", dtype, want, 0, 0)], f"T.fill({{y}}, {text})", mode, n,
                       scalars=scalars)


def fill_cases():
    for dtype in ALL:
        values = [("True", True), ("s", False)] if dtype == "bool" else [("3", 3), ("s", 5)]
        if is_float(dtype):
            values = [("-1.5", -1.5), ("s", 0.75), ('float("nan")', np.nan)]
            values += [('float("-inf")', -np.inf)] * (not dtype.startswith("fp8"))
        for i, (text, value) in enumerate(values):
            yield from spread(f"fill-{dtype}-{i}", lambda mode, n: fill_case(dtype, text, value, mode, n), 2, ci=i == 0)


def broadcast_cases():
    """(R, 1), (1, C) and (C,) into (R, C), and the vector's elements apart from their order in memory."""
    for i, (kind, dtype, r, c) in enumerate(itertools.product(("sub", "max"), ("f32", "bf16", "i32"), (3, 8), (1, 32, 47))):
        rng = generator(f"broadcast{i}")
        a, b, v = sample(rng, dtype, r).reshape(r, 1), sample(rng, dtype, c).reshape(1, c), sample(rng, dtype, c)
        y = binary(kind, a, dtype, b, dtype, dtype)
        z = binary(kind, np.broadcast_to(v, (r, c)), dtype, y, dtype, dtype)
        body = f"""
with {mesh(32)} as m:
    T.binary(a, b, T.tensor_view(y, layout=ShardLayout(layout=Layout(shape=({r}, {c})), attrs=(Broadcast(),), mesh=m)), kind="{kind}")
    T.sync(m)
    T.binary(v, y, z, kind="{kind}")
"""
        yield Case(f"broadcast-{kind}-{dtype}-{r}x{c}", ("binary",), [("a", tensor((r, 1), dtype)), ("b", tensor((1, c), dtype)),
                   ("v", tensor((c,), dtype)), ("y", tensor((r, c), dtype)), ("z", tensor((r, c), dtype))], body,
                   {"a": a, "b": b, "v": v}, {"y": (y, 0, 0), "z": (z, 0, 0)}, signs=False, ci=i % 3 == 0)


def iota_cases():
    for i, (dtype, axis, start) in enumerate(itertools.product(("i32", "i64", "f32", "f16", "u8"), (0, 1, -1), (None, 5))):
        r, c = 4, 32
        steps = np.arange(r)[:, None] if axis == 0 else np.arange(c)[None, :]
        want = (np.broadcast_to(steps, (r, c)) + (start or 0)).astype(storage(dtype))
        argument = "" if start is None else f"start={start}, "
        body = f"""
with {mesh(32)} as m:
    own = T.spread(m, ({r}, {c}), 2)
    v = T.alloc_tensor(TensorType(shape=({r}, {c}), dtype="{dtype}", layout=own, storage=rmem))
    T.iota(v, {argument}axis={axis})
    T.copy(v, T.tensor_view(y, layout=own))
"""
        yield Case(f"iota-{dtype}-{axis}-{start}", ("iota",), [("y", tensor((r, c), dtype))], body, {}, {"y": (want, 0, 0)}, ci=i % 3 == 0)


def in_place_cases():
    for dtype in ("f32", "f16", "i32"):
        x = sample(generator(f"in-place-{dtype}"), dtype, 131)
        body = f"""
with {mesh(64)} as m:
    own = T.spread(m, (64,), 1)
    for j in range(0, 131, 64):
        v = T.tensor_view(x, j, shape=(64,), layout=own, clip=1)
        T.binary(v, v, v, kind="add")
        T.unary(v, v, kind="neg")
"""
        want = unary("neg", binary("add", x, dtype, x, dtype, dtype), dtype, dtype)
        yield Case(f"in-place-{dtype}", ("binary", "unary"), [("x", tensor((131,), dtype))], body, {"x": x}, {"x": (want, 0, 0)}, ci=True)


def accumulate_cases():
    """A plain clipped window in place, with a fragment that says whose its elements are, and a row for all of its rows."""
    for i, (dtype, r, c) in enumerate(itertools.product(("f32", "f16", "i32"), (5, 8), (29, 40))):
        rng = generator(f"accumulate{i}")
        x, b, y = sample(rng, dtype, r * c).reshape(r, c), sample(rng, dtype, c), sample(rng, dtype, r * c).reshape(r, c)
        body = f"""
with {mesh(64)} as m:
    own = T.spread(m, (8, 32), 2)
    v = T.alloc_tensor(TensorType(shape=(8, 32), dtype="{dtype}", layout=own, storage=rmem))
    for j in range(0, {c}, 32):
        w = T.tensor_view(y, 0, j, shape=(8, 32), clip=1)
        T.copy(T.tensor_view(x, 0, j, shape=(8, 32), clip=1), v)
        T.binary(v, T.tensor_view(b, j, shape=(32,), clip=1), v, kind="sub")
        T.binary(v, w, w, kind="sub")
        T.binary(w, T.tensor_view(b, j, shape=(32,), clip=1), T.tensor_view(z, 0, j, shape=(8, 32), layout=own, clip=1), kind="max")
"""
        low = binary("sub", binary("sub", x, dtype, np.broadcast_to(b, (r, c)), dtype, dtype), dtype, y, dtype, dtype)
        high = binary("max", low, dtype, np.broadcast_to(b, (r, c)), dtype, dtype)
        yield Case(f"accumulate-{dtype}-{r}x{c}", ("binary", "copy"), [("x", tensor((r, c), dtype)), ("b", tensor((c,), dtype)),
                   ("y", tensor((r, c), dtype)), ("z", tensor((r, c), dtype))], body, {"x": x, "b": b, "y": y},
                   {"y": (low, 0, 0), "z": (high, 0, 0)}, ci=i % 4 == 1)


def cases():
    yield from binary_cases()
    yield from scalar_cases()
    yield from unary_cases()
    for dtype in FLOATS:
        yield from spread(f"fma-{dtype}", lambda mode, n: fma_case(dtype, mode, n))
    for dtype in ALL:
        yield from spread(f"select-{dtype}", lambda mode, n: select_case(dtype, mode, n))
        yield from spread(f"copy-{dtype}", lambda mode, n: copy_case(dtype, mode, n), 8, ci=2)
    for dtype in (*FLOATS, "i8", "i32", "i64", "u16"):
        yield from spread(f"relu-{dtype}", lambda mode, n: relu_case(dtype, mode, n))
        for low, high in ((0, 2), (1, 0)) if dtype in INT else ((-0.5, 1.5), (2.0, -2.0)):
            yield from spread(f"clamp-{dtype}-{low}", lambda mode, n: clamp_case(dtype, low, high, mode, n))
    yield from fill_cases()
    yield from broadcast_cases()
    yield from iota_cases()
    yield from in_place_cases()
    yield from accumulate_cases()
