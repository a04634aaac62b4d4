# RUN: %python %s %tf-llc %tf-run %t
"""Narrow floats by cutting bits off, which also turns some NaN into infinity; squares summed in f16, where 300 * 300 overflows; eps
outside of the root; subnormal numbers flushed unasked, or kept when asked to flush; a switch against fused products that never
reaches the instructions, or fuses what it must not."""
import pathlib
import subprocess
import sys

import numpy as np
import tfcheck

llc = sys.argv[1]
check = tfcheck.Check(sys.argv[1:])
rng = np.random.default_rng(83)
CAST = """
@prim_func(target=CudaTarget("sm_89"))
def k(x: Tensor[(8, 32), "{0}"], y: Tensor[(8, 32), "{1}"], z: Tensor[(8, 32), "{1}"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        own = T.spread(m, (8, 32), {2})
        T.unary(T.tensor_view(x, layout=own), T.tensor_view(y, layout=own), kind="cast")
        for i in range(8):
            T.store(z, T.cast(T.load(x, i, T.coord(m.t)), "{1}"), i, T.coord(m.t))
"""


def nan_patterns(bits):
    """f32 NaN of both signs: only the lowest bit of the fraction, only the highest, all."""
    return np.array(bits, np.uint32).view(np.float32)


x = rng.standard_normal((8, 32)).astype(np.float32)
x.ravel()[:8] = [0.2691408770, -0.2691408770, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 3.4e38, 2.0**-130, -0.0]
x.ravel()[8:14] = nan_patterns([0x7F800001, 0xFF800001, 0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F80FFFF])
assert tfcheck.bf16(x).ravel()[0] == 0.26953125
for vec in (1, 8):
    check.run(CAST.format("f32", "bf16", vec), {"x": x}, {"y": (tfcheck.bf16(x), 0, 0), "z": (tfcheck.bf16(x), 0, 0)})
    with np.errstate(all="ignore"):
        half = x.astype(np.float16)
    check.run(CAST.format("f32", "f16", vec), {"x": x}, {"y": (half, 0, 0), "z": (half, 0, 0)})
    for dtype in ("tf32", "fp8e4m3", "fp8e5m2"):  # NaN stays NaN; the values are the suite's business
        nan = nan_patterns([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFF8FFFFF] * 64).reshape(8, 32)
        check.run(CAST.format("f32", dtype, vec), {"x": nan}, {"y": (nan, 0, 0), "z": (nan, 0, 0)})

NORM = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(2, 256), "{0}"], w: Tensor[(256,), "{0}"], y: Tensor[(2, 256), "{0}"]):
    with Mesh((Topology("thread", 64),), Layout((64,)), ("t",)) as m:
        own = T.spread(m, (2, 256), 4)
        T.rms_norm(T.tensor_view(x, layout=own), T.tensor_view(y, layout=own), w, eps={1})
"""
# Squares of 300 are beyond f16, their sum is far beyond; with eps = 1 and x = 1/1000 the place of eps decides.
for dtype, real, low in (("f16", np.float16, 2.0**-10), ("f32", np.float32, 3e-7)):
    for size, eps in ((300, 1e-6), (1e-3, 1.0), (1e-3, 1e-6)):
        x = (size * rng.choice([-1, 1], (2, 256)) * (1 + rng.integers(0, 3, (2, 256)) / 8)).astype(real)
        w = rng.integers(1, 5, 256).astype(real)
        wide = x.astype(np.float64)
        want = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + eps) * w
        check.run(NORM.format(dtype, eps), {"x": x, "w": w}, {"y": (want.astype(real), low, 0)})

# ---- Flags: what the compiler is asked for is what the PTX does, executed.
STEPS = """
@prim_func(target=CudaTarget("sm_80"))
def k(a: Tensor[(32,), "f32"], b: Tensor[(32,), "f32"], c: Tensor[(32,), "f32"], y: Tensor[(32,), "f32"], s: Tensor[(32,), "f32"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        own = T.spread(m, (32,), 1)
        p = T.alloc_tensor(TensorType((32,), "f32", own, rmem))
        T.binary(T.tensor_view(a, layout=own), T.tensor_view(b, layout=own), p, kind="mul")
        T.binary(p, T.tensor_view(c, layout=own), T.tensor_view(y, layout=own), kind="add")
        t = T.coord(m.t)
        T.store(s, T.load(a, t) * T.load(b, t) + T.load(c, t), t)
"""
source, ptx, manifest = check.scratch / "steps.tir", check.scratch / "steps.ptx", check.scratch / "steps.json"
source.write_text(STEPS)


def with_flags(flags, arrays, want):
    subprocess.run([llc, *flags, source, "-o", ptx], check=True)
    subprocess.run([llc, *flags, source, "--emit=manifest", "-o", manifest], check=True)
    check.run(str(ptx), arrays, {"y": (want, 0, 0), "s": (want, 0, 0)}, [f"--manifest={manifest}"])


a = (1 + rng.integers(0, 2**12, 32) * 2.0**-12).astype(np.float32)
b = (1 + rng.integers(0, 2**12, 32) * 2.0**-12).astype(np.float32)
a[0] = b[0] = 1 + 2.0**-12
c = -(a * b)
exact = a.astype(np.float64) * b  # of 26 bits
fused = (exact + c).astype(np.float32)
assert fused[0] == 2.0**-24 and np.count_nonzero(fused) > 8
arrays = {"a": a, "b": b, "c": c}
with_flags([], arrays, np.zeros(32, np.float32))
with_flags(["-ffp-contract=off"], arrays, np.zeros(32, np.float32))
with_flags(["-ffp-contract=fast"], arrays, fused)

tiny = np.full(32, 1e-40, np.float32)
one, zero = np.ones(32, np.float32), np.zeros(32, np.float32)
arrays = {"a": tiny, "b": one, "c": zero}
with_flags([], arrays, tiny)
with_flags(["-fdenormal=ieee"], arrays, tiny)
with_flags(["-fdenormal=ftz"], arrays, zero)
