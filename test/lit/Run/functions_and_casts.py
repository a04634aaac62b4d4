# RUN: %python %s %tf-run %t
"""Functions of f32 and f64 to 2 ULP of the value in a wider type over the whole range; Python's float // and %; saturating and narrow casts."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
UNARY = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(4096,), "{0}"], y: Tensor[(4096,), "{0}"]) -> None:
    with Mesh((Topology("thread", 128),), Layout(shape=(128,), strides=(1,)), ("t",)) as m:
        T.unary(T.tensor_view(x, layout=T.spread(m, (4096,), 4)), T.tensor_view(y, layout=T.spread(m, (4096,), 4)), kind="{1}")
"""
rng = np.random.default_rng(17)
near_one = 1 + rng.standard_normal(512) * 1e-3
wide = np.exp2(rng.uniform(-148, 127, 2048))
special = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 2.0, 0.5]
rest = 4096 - 2560 - len(special)
logs = np.concatenate([near_one, wide, special, np.exp2(rng.integers(-140, 120, rest))]).astype(np.float32)
exps = np.concatenate([rng.uniform(-104, 89, 3500), rng.uniform(-1e-3, 1e-3, 400), special, [1e30, -1e30, 3e38],
                       rng.uniform(-300, 300, 4096 - 3912)]).astype(np.float32)
with np.errstate(all="ignore"):
    for kind, x in (("log", logs), ("log2", logs), ("exp", exps), ("exp2", exps), ("rsqrt", logs)):
        exact = {"rsqrt": lambda v: 1 / np.sqrt(v)}.get(kind, getattr(np, kind, None))(x.astype(np.float64))
        ulp = np.spacing(np.abs(exact).clip(0, 3.4e38).astype(np.float32)).astype(np.float64)
        got = check.run(UNARY.format("f32", kind), {"x": x}, {"y": (exact.astype(np.float32), 5e-7, 4e-45)})["y"].astype(np.float64)
        finite = np.isfinite(exact) & np.isfinite(exact.astype(np.float32))
        worst = np.max(np.abs(got - exact)[finite] / ulp[finite])
        if worst > 2:
            sys.exit(f"{kind}: {worst} ULP")

# f64 against the 64-bit significands of x87.
assert np.finfo(np.longdouble).nmant >= 63
near_one = 1 + rng.standard_normal(1024) * 10.0 ** -rng.integers(1, 16, 1024)
logs = np.concatenate([near_one, np.exp2(rng.uniform(-1074, 1023.9, 2048)), special, rng.uniform(0.5, 2, 4096 - 3072 - len(special))])
exps = np.concatenate([rng.uniform(-745.2, 709.7, 2000), rng.uniform(-1, 1, 1000), rng.uniform(-1080, 1025, 500), special,
                       [1e300, -1e300, 709.79, -745.14, 1074.0, -1075.0], rng.uniform(-1, 1, 596 - 6 - len(special)) * 1e-9])
for kind, x in (("log", logs), ("log2", logs), ("exp", exps), ("exp2", exps), ("rsqrt", logs)):
    with np.errstate(all="ignore"):
        exact = {"rsqrt": lambda v: 1 / np.sqrt(v)}.get(kind, getattr(np, kind, None))(x.astype(np.longdouble))
        want = exact.astype(np.float64)
        got = check.run(UNARY.format("f64", kind), {"x": x}, {"y": (want, 5e-16, 1e-323)})["y"]
        finite = np.isfinite(want)
        worst = np.max(np.abs(got[finite] - exact[finite]) / np.spacing(np.abs(want[finite])))
        if worst > 1.5 if kind == "rsqrt" else worst > 1:
            sys.exit(f"{kind} of f64: {worst} ULP")

BINARY = """
@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(1024,), "{0}"], b: Tensor[(1024,), "{0}"], q: Tensor[(1024,), "{0}"], r: Tensor[(1024,), "{0}"]) -> None:
    T.binary(a, b, q, kind="floor_div")
    T.binary(a, b, r, kind="mod")
"""
for dtype, real in (("f32", np.float32), ("f64", np.float64)):
    a = np.concatenate([rng.standard_normal(900) * 100, rng.standard_normal(100) * 1e20, [0.0, -0.0, np.inf, np.nan] * 6]).astype(real)
    b = np.concatenate([rng.standard_normal(1000) * 3, [0.0, 2.5, -2.5, np.inf] * 6]).astype(real)
    with np.errstate(all="ignore"):
        q = np.where(b == 0, a / b, np.floor_divide(a, b))
        r = np.where(b == 0, np.nan, np.mod(a, b))
    check.run(BINARY.format(dtype), {"a": a, "b": b}, {"q": (q, 0, 0), "r": (r, 0, 0)}, options=["--kernel=k", "--grid=1", "--block=1"])

CAST = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(4096,), "{0}"], y: Tensor[(4096,), "{1}"]) -> None:
    with Mesh((Topology("thread", 128),), Layout(shape=(128,), strides=(1,)), ("t",)) as m:
        T.unary(T.tensor_view(x, layout=T.spread(m, (4096,), 4)), T.tensor_view(y, layout=T.spread(m, (4096,), 4)), kind="cast")
"""
x = np.concatenate([np.exp2(rng.uniform(-20, 70, 4000)) * rng.choice([-1, 1], 4000), rng.uniform(-300, 300, 93), [np.nan, np.inf, -np.inf]]).astype(np.float32)
for dtype in ("i8", "u8", "i16", "u16", "i32", "u32", "i64"):
    info = np.iinfo({"i": "int", "u": "uint"}[dtype[0]] + dtype[1:])
    want = [0 if np.isnan(v) else int(min(max(np.trunc(np.float64(v)), info.min), info.max)) for v in x]
    check.run(CAST.format("f32", dtype), {"x": x}, {"y": (np.array([min(w, info.max) for w in want], info.dtype), 0, 0)})

# f8e8m0: every code, the ties between codes and their neighbours, below and above the range; from f64 too, where f32 would hide them.
codes = np.arange(255)
powers = np.ldexp(1.0, codes - 127)
ties = np.concatenate([f(1.5 * powers) for f in (lambda v: v, lambda v: np.nextafter(v, 0), lambda v: np.nextafter(v, np.inf))])
to_even = np.minimum(codes + codes % 2, 254)
want = np.concatenate([codes, to_even, codes, np.minimum(codes + 1, 254), [0, 0, 0, 0, 254, 254, 254, 255, 255, 255, 255]])
x = np.concatenate([powers, ties, [0.0, -0.0, 1e-60, 5e-324, np.inf, 3e38, 1e300, np.nan, -1.0, -np.inf, -1e-45]])
pad = 4096 - len(x)
x, want = np.concatenate([x, np.ones(pad)]), np.concatenate([want, np.full(pad, 127)])
value = np.where(want == 255, np.nan, np.ldexp(1.0, want - 127)).astype(np.float32)
check.run(CAST.format("f64", "f8e8m0"), {"x": x}, {"y": (value, 0, 0)})
x32 = np.concatenate([powers.astype(np.float32), ties[:255].astype(np.float32), np.nextafter(ties[:255].astype(np.float32), np.float32(0))])
want = np.concatenate([codes, to_even, codes])
x32 = np.concatenate([x32, np.ones(4096 - len(x32), np.float32)])
want = np.concatenate([want, np.full(4096 - len(want), 127)])
check.run(CAST.format("f32", "f8e8m0"), {"x": x32}, {"y": (np.ldexp(1.0, want - 127).astype(np.float32), 0, 0)})
check.run(CAST.format("f8e8m0", "f64"), {"x": value}, {"y": (value.astype(np.float64), 0, 0)})

# tf32 rounds alike with and without the instruction: ties away, into infinity, NaN and subnormals.
bits = np.concatenate([rng.integers(0, 2**32, 4000, np.uint32), np.array([0x1000, 0x0fff, 0x7f7fffff, 0xff7ff000, 0x7f800000, 0xff800000,
                       0x80001000, 0x3f801000, 0x3f800fff, 0, 0x80000000, 0x7fffffff], np.uint32), np.zeros(84, np.uint32)])
x = bits.view(np.float32)
want = np.where(np.isnan(x), np.float32(np.nan), ((bits + np.uint32(0x1000)) & np.uint32(0xffffe000)).view(np.float32))
for cpu in ("sm_75", "sm_80"):
    check.run(CAST.format("f32", "tf32"), {"x": x}, {"y": (want, 0, 0)}, options=[f"--mcpu={cpu}"])
