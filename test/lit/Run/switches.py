# RUN: %python %s %tf-run %tf-llc %t
"""-ffp-contract, -fdenormal and -ffast-math act on the instructions: counted in the PTX, and run. Without them every operation
rounds by itself and subnormals stay; the expected bits are computed by NumPy in a wider type."""
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "run-suite"))
import arithmetic
import tfcheck
from cases_elementwise import fma

check = tfcheck.Check([sys.argv[0], sys.argv[1], sys.argv[3]])
N = 256
HEAD = """@prim_func(target=CudaTarget("sm_80"))
def k({}) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(32,)), ("t",)) as m:
        own = T.spread(m, ({},), 8)
"""


def kernel(params, statements):
    """All parameters are vectors of N; v_<name> is the distributed view, r_<name> a register copy of it."""
    text = HEAD.format(", ".join(f'{name}: Tensor[({N},), "{dtype}"]' for name, dtype in params.items()), N)
    for name, dtype in params.items():
        text += f"        v_{name} = T.tensor_view({name}, layout=own)\n"
        text += f'        r_{name} = T.alloc_tensor(TensorType(shape=({N},), dtype="{dtype}", layout=own, storage=rmem))\n'
        text += f"        T.copy(v_{name}, r_{name})\n" if name != "y" else ""
    return text + "".join(f"        {s}\n" for s in statements) + "        T.copy(r_y, v_y)\n"


def run(text, flags, inputs, want, rtol=0, atol=0):
    source, ptx, manifest = (check.scratch / f"switch.{suffix}" for suffix in ("tir", "ptx", "json"))
    source.write_text(text)
    for kind, path in (("ptx", ptx), ("manifest", manifest)):
        subprocess.run([sys.argv[2], *flags, f"--emit={kind}", "-o", str(path), str(source)], check=True)
    check.run(str(ptx), inputs, {"y": (want, rtol, atol)}, options=[f"--manifest={manifest}"])
    return ptx.read_text()


def expect(ptx, wanted, unwanted, what):
    for pattern in wanted:
        if not re.search(pattern, ptx):
            sys.exit(f"{what}: no {pattern}\n{ptx}")
    for pattern in unwanted:
        if re.search(pattern, ptx):
            sys.exit(f"{what}: {pattern} is there\n{ptx}")


rng = np.random.default_rng(6)
near_one = lambda: (1 + rng.integers(1, 2**6, N) * 2.0**-9) * rng.choice([-1, 1], N)

# ---- Contraction: a*b + c, a product that is not exact and a sum that cancels it ----
for dtype, name in (("f32", "f32"), ("f64", "f64"), ("f16", "f16x2"), ("bf16", "bf16x2")):
    real = arithmetic.storage(dtype)
    a, b = (arithmetic.round_float(dtype, near_one() * (1 + (2.0**-20 if dtype != "f16" and dtype != "bf16" else 0))) for _ in range(2))
    if dtype == "f64":
        a, b = a * (1 + 2.0**-40), b * (1 - 2.0**-41)
    product = arithmetic.round_float(dtype, a.astype(np.float64) * b.astype(np.float64))
    c = (-product).astype(real)  # the separate product cancels exactly
    fused = [fma(*map(float, v), odd=dtype != "f64") for v in zip(a, b, c)]
    fused = arithmetic.round_float(dtype, np.array(fused))
    assert (fused != 0).sum() > N // 2, dtype
    text = kernel({"a": dtype, "b": dtype, "c": dtype, "y": dtype}, ['T.binary(r_a, r_b, r_y, kind="mul")', 'T.binary(r_y, r_c, r_y, kind="add")'])
    inputs = {"a": a, "b": b, "c": c}
    apart = run(text, [], inputs, np.zeros(N, real))
    together = run(text, ["-ffp-contract=fast"], inputs, fused)
    if dtype != "bf16":  # sm_80 has no other bf16 product and sum than fma
        expect(apart, [rf"mul\.rn\.{name}", rf"add\.rn\.{name}"], [r"fma\.rn"], f"{dtype} apart")
    expect(together, [rf"fma\.rn\.{name}"], [rf"mul\.rn\.{name}", rf"add\.rn\.{name}"], f"{dtype} together")
    # fma itself does not depend on the switch.
    text = kernel({"a": dtype, "b": dtype, "c": dtype, "y": dtype}, ["T.fma(r_a, r_b, r_c, r_y)"])
    expect(run(text, [], inputs, fused), [rf"fma\.rn\.{name}"], [], f"{dtype} fma")

# ---- Subnormal f32 and f16: operands and results become zeros of their sign; f64 has no such instructions ----
tiny = lambda x, least=2.0**-126: np.where(np.abs(x) < least, np.copysign(0, x), x)
x = (np.exp2(rng.uniform(-148, -110, N)) * rng.choice([-1, 1], N)).astype(np.float32)
z = (np.exp2(rng.uniform(-148, -120, N)) * rng.choice([-1, 1], N)).astype(np.float32)
OPS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
with np.errstate(all="ignore"):
    for kind, function in OPS.items():
        scale = 2.0**100 if kind == "mul" else 1.0
        b = (z * np.float32(scale)).astype(np.float32) if kind == "mul" else z
        b = np.where(rng.integers(0, 2, N) > 0, b, np.float32(2.0**-3)).astype(np.float32) if kind == "div" else b
        ieee = arithmetic.round_float("f32", function(x.astype(np.float64), b.astype(np.float64)))
        flushed = tiny(arithmetic.round_float("f32", function(tiny(x).astype(np.float64), tiny(b).astype(np.float64)))).astype(np.float32)
        assert (ieee != flushed).sum() > 20, kind
        text = kernel({"a": "f32", "b": "f32", "y": "f32"}, [f'T.binary(r_a, r_b, r_y, kind="{kind}")'])
        expect(run(text, [], {"a": x, "b": b}, ieee), [rf"{kind}\.rn\.f32"], [r"\.ftz"], kind)
        expect(run(text, ["-fdenormal=ftz"], {"a": x, "b": b}, flushed), [rf"{kind}\.rn\.ftz\.f32"], [rf"{kind}\.rn\.f32"], f"{kind} ftz")
    for kind, least, function in (("exp2", -140, np.exp2), ("exp", -98, np.exp)):
        a = rng.uniform(least, -80, N).astype(np.float32)
        exact = function(a.astype(np.float64))
        text = kernel({"a": "f32", "y": "f32"}, [f'T.unary(r_a, r_y, kind="{kind}")'])
        run(text, [], {"a": a}, exact.astype(np.float32), 3e-7, 2.0**-148)
        # Only results well away from the least normal number say what flushing does.
        clear = np.where(np.abs(np.log2(exact) + 126) < 0.01, 0.0, tiny(exact))
        run(text, ["-fdenormal=ftz"], {"a": a}, clear.astype(np.float32), 3e-7, 0)
    h = np.exp2(rng.uniform(-24, -13, N)).astype(np.float16)
    g, least = h[::-1].copy(), 2.0**-14
    text = kernel({"a": "f16", "b": "f16", "y": "f16"}, ['T.binary(r_a, r_b, r_y, kind="add")'])
    run(text, [], {"a": h, "b": g}, h + g)
    run(text, ["-fdenormal=ftz"], {"a": h, "b": g}, tiny(tiny(h, least) + tiny(g, least), least).astype(np.float16))
    d = np.exp2(rng.uniform(-1074, -1000, N))
    text = kernel({"a": "f64", "b": "f64", "y": "f64"}, ['T.binary(r_a, r_b, r_y, kind="sub")'])
    run(text, ["-fdenormal=ftz"], {"a": d, "b": d[::-1].copy()}, d - d[::-1])

# ---- Fast math: single instructions, division without its correction; close to the exact value all the same ----
x = rng.uniform(0.1, 20, N).astype(np.float32)
FAST = {"exp": (np.exp, [r"ex2\.approx"], [r"fma\.rn\.f32"]), "exp2": (np.exp2, [r"ex2\.approx"], [r"fma"]),
        "log": (np.log, [r"lg2\.approx"], [r"div", r"fma"]), "log2": (np.log2, [r"lg2\.approx"], [r"div", r"fma"]),
        "rsqrt": (lambda v: 1 / np.sqrt(v), [r"rsqrt\.approx"], [r"div"])}
for kind, (function, wanted, unwanted) in FAST.items():
    text = kernel({"a": "f32", "y": "f32"}, [f'T.unary(r_a, r_y, kind="{kind}")'])
    exact = function(x.astype(np.float64)).astype(np.float32)
    expect(run(text, ["-ffast-math"], {"a": x}, exact, 4e-6, 1e-6), wanted, unwanted, f"fast {kind}")
    if kind in ("log", "log2"):
        expect(run(text, [], {"a": x}, exact, 3e-7, 0), [r"fma\.rn\.f32"], [r"lg2\.approx"], kind)
d = rng.uniform(1, 3, N).astype(np.float32)
text = kernel({"a": "f32", "b": "f32", "y": "f32"}, ['T.binary(r_a, r_b, r_y, kind="div")'])
expect(run(text, [], {"a": x, "b": d}, (x / d).astype(np.float32)), [r"div\.rn\.f32"], [r"approx"], "div")
expect(run(text, ["-ffast-math"], {"a": x, "b": d}, (x / d).astype(np.float32), 5e-7, 0), [r"(div|rcp)\.approx"], [r"div\.rn"], "fast div")
