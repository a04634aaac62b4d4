"""The language's element types and arithmetic in NumPy alone: what comes out of a case is computed here.

Values of f64, f32, f16 and integers live in arrays of their own dtype, bf16, tf32 and the 8-bit floats in float32 arrays of
representable values, which is also how they travel to and from tf-run. Float arithmetic is done in f64 and rounded once to the
type that the language computes in: 53 bits are enough for +, -, *, / of operands of up to 24 bits to round as if exact.
"""
import numpy as np

INT = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
       "u64": np.uint64}
#        exponent bits, mantissa bits, largest value, what lies beyond it
FLOAT = {"f64": (11, 52, None, "inf"), "f32": (8, 23, None, "inf"), "f16": (5, 10, 65504.0, "inf"),
         "bf16": (8, 7, 2.0**127 * (2 - 2.0**-7), "inf"), "tf32": (8, 10, 2.0**127 * (2 - 2.0**-10), "inf"),
         "fp8e4m3": (4, 3, 448.0, "max"), "fp8e5m2": (5, 2, 57344.0, "max"), "f8e8m0": (8, 0, 2.0**127, "max")}
ALL = ["bool", *INT, *FLOAT]
WIDTH = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "fp8e4m3": 8, "fp8e5m2": 8, "f8e8m0": 8}


def is_float(dtype):
    return dtype in FLOAT


def storage(dtype):
    """The NumPy dtype that holds values of `dtype`."""
    if dtype == "bool":
        return np.bool_
    return INT.get(dtype) or {"f64": np.float64, "f16": np.float16}.get(dtype, np.float32)


def round_float(dtype, exact):
    """f64 (or f32) values rounded to `dtype`: to nearest even, tf32 with ties away from zero."""
    exact = np.asarray(exact, np.float64)
    if dtype == "f8e8m0":
        return _power_of_two(exact)
    exponent_bits, mantissa, largest, beyond = FLOAT[dtype]
    if dtype in ("f64", "f32"):
        with np.errstate(over="ignore"):
            return exact.astype(storage(dtype))
    least = 2 - 2 ** (exponent_bits - 1)  # exponent of the smallest normal number
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 0.0))
        quantum = np.ldexp(1.0, np.maximum(exponent - 1, least) - mantissa)
        steps = exact / quantum
        steps = np.where(dtype == "tf32", np.trunc(steps + np.copysign(0.5, steps)), np.rint(steps))
        value = np.where(np.isfinite(exact), np.copysign(steps * quantum, exact), exact)
    limit = np.inf if beyond == "inf" else largest
    value = np.where(np.abs(value) > largest, np.copysign(limit, value), value)
    return np.where(np.isnan(exact), np.nan, value).astype(storage(dtype))


def _power_of_two(exact):
    """The nearest power of two from 2^-127 to 2^127, a tie to the one whose biased exponent is even; no sign, no zero."""
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1.0))  # mantissa in [0.5, 1)
        code = exponent - 1 + 127
        code = np.clip(code + ((mantissa > 0.75) | ((mantissa == 0.75) & (code % 2 == 1))), 0, 254)
        code = np.where(exact == 0, 0, np.where(np.isinf(exact), 254, code))
        value = np.ldexp(1.0, code.astype(np.int64) - 127)
    return np.where(np.isnan(exact) | (exact < 0), np.nan, value).astype(np.float32)


def cast(source, target, values):
    """The unary kind cast, and the rounding into a destination of another type."""
    values = np.asarray(values)
    if target == "bool":
        return values != 0
    if is_float(target):
        if source in INT and INT[source] in (np.int64, np.uint64):
            return _integer_to_float(target, values)
        return round_float(target, values.astype(np.float64))
    if not is_float(source):
        return values.astype(INT[target])  # wraps
    info = np.iinfo(INT[target])
    exact = values.astype(np.float64)
    whole = np.trunc(np.where(np.isnan(exact), 0, exact))
    clipped = [min(max(int(v), int(info.min)), int(info.max)) if np.isfinite(v) else int(info.max if v > 0 else info.min)
               for v in whole.ravel()]
    return np.array(clipped, INT[target]).reshape(values.shape)


def _integer_to_float(target, values):
    """64-bit integers have more bits than f64: round by integer arithmetic to the target's mantissa plus a sticky bit."""
    out = np.empty(values.shape, np.float64)
    keep = FLOAT[target][1] + 3
    for at in np.ndindex(values.shape):
        v = int(values[at])
        drop = max(0, abs(v).bit_length() - keep)
        head = abs(v) >> drop
        head |= int(head << drop != abs(v)) if drop else 0
        out[at] = np.ldexp(float(head), drop) * (-1 if v < 0 else 1) if target != "f64" else float(v)
    return round_float(target, out)


def common(a, b):
    """The type in which two operands meet."""
    if a == b:
        return a
    if is_float(a) and is_float(b):
        if WIDTH[a] == WIDTH[b]:
            return "f32"
        return a if WIDTH[a] > WIDTH[b] else b
    if is_float(a) or is_float(b):
        return a if is_float(a) else b
    bits = {x: int(x[1:]) for x in (a, b)}
    if a[0] == b[0]:
        return a if bits[a] > bits[b] else b
    signed, unsigned = (a, b) if a[0] == "i" else (b, a)
    return f"i{min(64, max(bits[signed], 2 * bits[unsigned]))}"


def wider(a, b):
    return a if not is_float(a) or (is_float(b) and WIDTH[a] >= WIDTH[b]) else b


def _floor_div(a, b):
    return np.where(b == 0, a / b, np.floor_divide(a, b))


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floor_div": np.floor_divide, "mod": np.mod,
    "min": np.minimum, "max": np.maximum, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "and": np.logical_and, "or": np.logical_or}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def binary(kind, a, a_dtype, b, b_dtype, dst):
    meet = common(a_dtype, b_dtype)
    with np.errstate(all="ignore"):
        if kind in COMPARISONS or kind in ("and", "or") or meet == "bool":
            return BINARY[kind](*(v if d == meet else cast(d, meet, v) for d, v in ((a_dtype, a), (b_dtype, b))))
        if not is_float(meet):
            at = meet if is_float(dst) else common(meet, dst)
            value = BINARY[kind](cast(a_dtype, at, a), cast(b_dtype, at, b))
            return cast(at, dst, value)
        at = wider(meet, dst)
        a, b = (cast(d, at, v).astype(np.float64) for d, v in ((a_dtype, a), (b_dtype, b)))
        if kind == "floor_div":
            value = _floor_div(a, b)
        elif kind == "mod":
            value = np.where(b == 0, np.nan, np.mod(a, b))
        else:
            value = BINARY[kind](a, b)
        return cast(at, dst, round_float(at, value))


UNARY = {"neg": np.negative, "abs": np.abs, "rsqrt": lambda x: 1 / np.sqrt(x), "relu": lambda x: np.maximum(x, 0),
         "square": np.square, "exp": np.exp, "log": np.log, "ceil": np.ceil, "round": np.rint, "exp2": np.exp2, "log2": np.log2}


def unary(kind, x, dtype, dst):
    with np.errstate(all="ignore"):
        if kind == "cast":
            return cast(dtype, dst, x)
        if kind == "not":
            return np.logical_not(x)
        if not is_float(dtype):
            return UNARY[kind](x).astype(x.dtype)
        return round_float(dst, UNARY[kind](x.astype(np.longdouble if dtype == "f64" else np.float64)))


def sample(rng, dtype, n, special=True, magnitude=None):
    """n values of a dtype: small and large ones, and the ends of the range, NaN, infinities and zeros if asked for."""
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(np.bool_)
    if dtype in INT:
        info = np.iinfo(INT[dtype])
        x = rng.integers(max(info.min, -(magnitude or 100)), min(info.max, magnitude or 100), n).astype(INT[dtype])
        ends = [info.max, info.min, 0, 1]
    else:
        x = rng.standard_normal(n) * (magnitude or 4)
        x = np.abs(x) if dtype == "f8e8m0" else x
        ends = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 1.5]
    if special and n > 2:
        at = rng.permutation(n)[:min(len(ends), n // 3)]
        x = x.copy()
        x[at] = np.array(ends[:len(at)]).astype(x.dtype) if dtype not in INT else np.array(ends[:len(at)], INT[dtype])
    if dtype in INT:
        return x
    # The 8-bit floats saturate, so what they hold never is infinite.
    return round_float(dtype, x)
