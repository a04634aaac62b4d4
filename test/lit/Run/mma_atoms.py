# RUN: %python %s %tf-run %t
"""Every matrix instruction: exact products of small numbers, one-hot operands, and an accumulator that is added to."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(23)

# name, M, N, K, dtypes of A, B, C
ATOMS = [("SM80_16x8x16_F32BF16BF16F32_TN", 16, 8, 16, "bf16", "bf16", "f32"),
         ("SM80_16x8x16_F32F16F16F32_TN", 16, 8, 16, "f16", "f16", "f32"),
         ("SM80_16x8x16_F16F16F16F16_TN", 16, 8, 16, "f16", "f16", "f16"),
         ("SM80_16x8x8_F32BF16BF16F32_TN", 16, 8, 8, "bf16", "bf16", "f32"),
         ("SM80_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32"),
         ("SM80_16x8x8_F32TF32TF32F32_TN", 16, 8, 8, "tf32", "tf32", "f32"),
         ("SM80_16x8x4_F32TF32TF32F32_TN", 16, 8, 4, "tf32", "tf32", "f32"),
         ("SM80_8x8x4_F64F64F64F64_TN", 8, 8, 4, "f64", "f64", "f64"),
         ("SM75_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32"),
         ("SM75_8x8x16_S32S8S8S32_TN", 8, 8, 16, "i8", "i8", "i32")]
ATOMS += [(f"SM80_16x8x{k}_S32{a}{b}S32_TN", 16, 8, k, {"S8": "i8", "U8": "u8"}[a], {"S8": "i8", "U8": "u8"}[b], "i32")
          for k in (16, 32) for a in ("S8", "U8") for b in ("S8", "U8")]
ATOMS += [(f"SM89_16x8x32_F32{a}{b}F32_TN", 16, 8, 32, "fp8" + a.lower(), "fp8" + b.lower(), "f32")
          for a in ("E4M3", "E5M2") for b in ("E4M3", "E5M2")]

KERNEL = """from tilefoundry import *
atom = T.cuda.mma.atom(op=T.cuda.mma.{name})

@prim_func(target=CudaTarget("sm_89"))
def product(a: Tensor[({m}, {k}), "{ta}"], b: Tensor[({k}, {n}), "{tb}"], c: Tensor[({m}, {n}), "{tc}"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(4, 8), strides=(1, 4))) as lanes:
        x = T.alloc_tensor(TensorType(shape=({m}, {k}), dtype="{ta}", layout=atom.A, storage=rmem))
        y = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{tb}", layout=atom.B, storage=rmem))
        acc = T.alloc_tensor(TensorType(shape=({m}, {n}), dtype="{tc}", layout=atom.C, storage=rmem))
        T.copy(T.tensor_view(a, layout=atom.A), x)
        T.copy(T.tensor_view(b, layout=atom.B), y)
        T.copy(T.tensor_view(c, layout=atom.C), acc)
        T.mma(acc, x, y{atom})
        T.copy(acc, T.tensor_view(c, layout=atom.C))
"""

NUMPY = {"f16": np.float16, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32}


def numbers(dtype, shape):
    """Numbers that the dtype holds exactly: integers over the whole range of 8-bit types, else small integers (fp8: up to 7,
    halves in f64)."""
    if dtype == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    if dtype == "u8":
        return rng.integers(0, 256, shape).astype(np.uint8)
    if dtype == "i32":
        return rng.integers(-1000, 1000, shape).astype(np.int32)
    scale = 0.5 if dtype == "f64" else 1
    return (rng.integers(-7, 8, shape) * scale).astype(NUMPY.get(dtype, np.float32))


def one_hot(dtype, shape, at):
    out = np.zeros(shape, NUMPY.get(dtype, np.float32))
    out[at] = 3
    return out


for name, m, n, k, ta, tb, tc in ATOMS:
    text = KERNEL.format(name=name, m=m, n=n, k=k, ta=ta, tb=tb, tc=tc, atom=", atom=atom")
    wide = np.int64 if tc == "i32" else np.float64
    a, b, c = numbers(ta, (m, k)), numbers(tb, (k, n)), numbers(tc, (m, n))
    want = (c.astype(wide) + a.astype(wide) @ b.astype(wide)).astype(NUMPY.get(tc, np.float32))
    check.run(text, {"a": a, "b": b, "c": c}, {"c": (want, 0, 0)})
    for i, p, j in ((m - 1, 0, 2), (5, k - 1, n - 1), (2, k // 2, 3)):
        a, b, c = one_hot(ta, (m, k), (i, p)), one_hot(tb, (k, n), (p, j)), numbers(tc, (m, n))
        want = c.copy()
        want[i, j] += 9
        check.run(text, {"a": a, "b": b, "c": c}, {"c": (want, 0, 0)})

# Without an atom the fragments say which instruction is meant.
text = KERNEL.format(name=ATOMS[0][0], m=16, n=8, k=16, ta="bf16", tb="bf16", tc="f32", atom="")
a, b, c = numbers("bf16", (16, 16)), numbers("bf16", (16, 8)), numbers("f32", (16, 8))
check.run(text, {"a": a, "b": b, "c": c}, {"c": ((c + a @ b).astype(np.float32), 0, 0)})
