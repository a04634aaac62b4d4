# RUN: %python %s %tf-run %t
"""PTX templates of @intrinsic run: scalars of every dtype in registers and as immediates, addresses of tensors in every storage,
whole, windowed and distributed; braces, dollars and several uses of one operand in a template."""
import sys

import numpy as np

import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(8)

# ---- Scalars: parameters of every dtype, stored by an instruction that takes registers of that width ----
#        store of a register, width in which it arrives, a value with its sign bit set
SCALARS = {
    "i8": ("st.global.b8", np.int8, -77), "u8": ("st.global.b8", np.uint8, 200), "i16": ("st.global.b16", np.int16, -30000),
    "u16": ("st.global.b16", np.uint16, 60000), "i32": ("st.global.b32", np.int32, -2000000000),
    "u32": ("st.global.b32", np.uint32, 4000000000), "i64": ("st.global.b64", np.int64, -(2**62) - 3),
    "u64": ("st.global.b64", np.uint64, 2**63 + 5), "f16": ("st.global.b16", np.float16, -1.5), "f32": ("st.global.b32", np.float32, -1.25e-30),
    "f64": ("st.global.b64", np.float64, -1e300), "bool": ("st.global.b8", np.bool_, True), "bf16": ("st.global.b16", np.float32, -2.5),
    "tf32": ("st.global.b32", np.float32, 1.5), "fp8e4m3": ("st.global.b8", np.float32, -448.0), "fp8e5m2": ("st.global.b8", np.float32, 0.5),
}
text, params, calls, inputs, want = "", [], "", {}, {}
for dtype, (store, numpy, value) in SCALARS.items():
    text += f'@intrinsic(ptx="{store} [{{y}}], {{v}};")\ndef put_{dtype}(y: Expr, v: Expr) -> None: ...\n\n\n'
    params += [f'v_{dtype}: Tensor[(), "{dtype}"]', f'y_{dtype}: Tensor[(1,), "{dtype}"]']
    calls += f"        put_{dtype}(y_{dtype}, v_{dtype})\n"
    inputs[f"v_{dtype}"] = int(value) if dtype == "bool" else value
    want[f"y_{dtype}"] = (np.array([value], numpy), 0, 0)
# A signed byte arrives extended by its sign, others by zeros.
for dtype, value in (("i8", -77), ("u8", 200)):
    text += f'@intrinsic(ptx="st.global.b32 [{{y}}], {{v}};")\ndef wide_{dtype}(y: Expr, v: Expr) -> None: ...\n\n\n'
    params.append(f'w_{dtype}: Tensor[(1,), "i32"]')
    calls += f"        wide_{dtype}(w_{dtype}, v_{dtype})\n"
    want[f"w_{dtype}"] = (np.array([value], np.int32), 0, 0)
text += f"""@prim_func(target=CudaTarget("sm_80"))
def k({', '.join(params)}) -> None:
    with Mesh((Topology("thread", 1),), Layout(shape=(1,)), ("t",)) as m:
{calls}"""
check.run(text, inputs, want)

# ---- Immediates: the instruction's last operand must be one; computed scalars, too; braces and dollars of PTX's own ----
IMMEDIATES = """
LIMIT = 3
@intrinsic(ptx="{ .reg .b32 a$1, b; ld.global.u32 a$1, [{x}]; shf.l.clamp.b32 b, a$1, a$1, {n}; add.u32 b, b, {k}; st.global.u32 [{y}], b; }")
def rotate(x: Expr, y: Expr, n: Expr, k: Expr) -> None:
    assert n in (0, 1, 2, LIMIT), "the distance"

@intrinsic(ptx="{ .reg .pred p; setp.ne.u32 p, {on}, 0; @p st.global.v2.u32 [{y}], {{n}, {n}}; }")
def both(y: Expr, n: Expr, on: Expr) -> None: ...

@intrinsic(ptx="bar.warp.sync {mask};")
def meet(mask: Expr) -> None: ...

@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(1,), "u32"], s: Tensor[(), "u32"], y: Tensor[(1,), "u32"], z: Tensor[(2,), "u32"], w: Tensor[(2,), "u32"],
      b: Tensor[(2,), "u32"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("t",)) as m:
        meet(0xFFFFFFFF)
        with Mesh((Topology("thread", 1),), Layout(shape=(1,)), ("t",)) as one:
            rotate(x, y, LIMIT, s)
            rotate(x, y, 2 + 1, T.cast(s + 4 - 4, "u32"))
            both(z, 7, True)
            both(w, 8, False)
            both(b, s, s > 3)
"""
x = np.array([0x80000001], np.uint32)
check.run(IMMEDIATES, {"x": x, "s": 5, "w": np.array([1, 2], np.uint32)},
          {"y": (np.array([(0x80000001 << 3 | 4) % 2**32 + 5], np.uint32), 0, 0), "z": (np.array([7, 7], np.uint32), 0, 0),
           "w": (np.array([1, 2], np.uint32), 0, 0), "b": (np.array([5, 5], np.uint32), 0, 0)})

# ---- Addresses: every storage; windows, distributions, tiles with a swizzle; ConstTensor ----
ADDRESSES = """
@intrinsic(ptx="{ .reg .f32 v; ld.global.f32 v, [{x}]; mul.f32 v, v, {factor}; st.shared.f32 [{s}], v; }")
def stage(x: Expr, s: Expr, factor: Expr) -> None:
    assert x.storage == "gmem" and s.storage == "smem", "from global to shared memory"

@intrinsic(ptx="{ .reg .f32 v; ld.shared.f32 v, [{s}]; st.f32 [{r}], v; }")
def fetch(s: Expr, r: Expr) -> None:
    assert r.storage == "rmem", "into registers"

@intrinsic(ptx="{ .reg .f32 v, u; ld.global.nc.f32 v, [{c}]; ld.global.f32 u, [{y}]; add.f32 v, v, u; st.global.f32 [{y}], v; }")
def accumulate(c: Expr, y: Expr) -> None: ...

@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(16, 32), "f32"], f: Tensor[(), "f32"], c: ConstTensor[(32,), "f32"], y: Tensor[(64,), "f32"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("t",)) as m:
        own = T.spread(m, (32,), 1)
        s = T.alloc_tensor(TensorType(shape=(4, 32), dtype="f32", storage=smem))
        t = T.alloc_tensor(TensorType(shape=(64,), dtype="f32", layout=ComposedLayout(Swizzle(2, 0, 3), 0, Layout((64,))), storage=smem))
        r = T.alloc_tensor(TensorType(shape=(2,), dtype="f32", storage=rmem))
        T.fill(r, 0.0)
        stage(T.tensor_view(x, 3, 0, shape=(32,), layout=own), T.tensor_view(s, 2, 0, shape=(32,), layout=own), f)
        stage(T.tensor_view(x, 5, T.coord(m.t), shape=(1,)), T.tensor_view(t, T.coord(m.t) + 32, shape=(1,)), -1.0)
        T.sync(m)
        fetch(T.tensor_view(s, 2, 31 - T.coord(m.t), shape=(1,)), r)
        fetch(T.tensor_view(t, T.coord(m.t) + 32, shape=(1,)), T.tensor_view(r, 1, shape=(1,)))
        T.copy(T.tensor_view(r, 0, shape=(1,)), T.tensor_view(y, T.coord(m.t), shape=(1,)))
        T.copy(T.tensor_view(r, 1, shape=(1,)), T.tensor_view(y, 32 + T.coord(m.t), shape=(1,)))
        accumulate(T.tensor_view(c, layout=own), T.tensor_view(y, 0, shape=(32,), layout=own))
"""
x, c = rng.standard_normal((16, 32)).astype(np.float32), rng.standard_normal(32).astype(np.float32)
f = np.float32(1.75)
want = np.concatenate([(x[3] * f)[::-1] + c, -x[5]]).astype(np.float32)
check.run(ADDRESSES, {"x": x, "f": 1.75, "c": c}, {"y": (want, 0, 0)})
