# RUN: %python %s %tf-run %t
"""Functions of f32 to 2 ULP of f64's value over the whole range; Python's float // and %; saturating and narrow casts."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
UNARY = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(4096,), "f32"], y: Tensor[(4096,), "f32"]) -> None:
    with Mesh((Topology("thread", 128),), Layout(shape=(128,), strides=(1,)), ("t",)) as m:
        T.unary(T.tensor_view(x, layout=T.spread(m, (4096,), 4)), T.tensor_view(y, layout=T.spread(m, (4096,), 4)), kind="{}")
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
        got = check.run(UNARY.format(kind), {"x": x}, {"y": (exact.astype(np.float32), 5e-7, 4e-45)})["y"].astype(np.float64)
        finite = np.isfinite(exact) & np.isfinite(exact.astype(np.float32))
        worst = np.max(np.abs(got - exact)[finite] / ulp[finite])
        if worst > 2:
            sys.exit(f"{kind}: {worst} ULP")

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
