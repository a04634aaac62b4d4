"""mma: a tile of every atom over one, two and four warps, operands in registers, in shared tiles, transposed and swizzled."""
import itertools

import numpy as np

from arithmetic import round_float, storage
from case import Case, generator, tensor

#       atom, M, N, K, operand dtypes, accumulator, target
ATOMS = [
    ("SM80_16x8x16_F32BF16BF16F32_TN", 16, 8, 16, "bf16", "bf16", "f32", "sm_80"),
    ("SM80_16x8x16_F32F16F16F32_TN", 16, 8, 16, "f16", "f16", "f32", "sm_80"),
    ("SM80_16x8x16_F16F16F16F16_TN", 16, 8, 16, "f16", "f16", "f16", "sm_80"),
    ("SM80_16x8x8_F32BF16BF16F32_TN", 16, 8, 8, "bf16", "bf16", "f32", "sm_80"),
    ("SM80_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32", "sm_80"),
    ("SM80_16x8x8_F32TF32TF32F32_TN", 16, 8, 8, "tf32", "tf32", "f32", "sm_80"),
    ("SM80_16x8x4_F32TF32TF32F32_TN", 16, 8, 4, "tf32", "tf32", "f32", "sm_80"),
    ("SM80_8x8x4_F64F64F64F64_TN", 8, 8, 4, "f64", "f64", "f64", "sm_80"),
    ("SM75_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32", "sm_75"),
    ("SM75_8x8x16_S32S8S8S32_TN", 8, 8, 16, "i8", "i8", "i32", "sm_75"),
    *((f"SM80_16x8x{k}_S32{a[0]}8{b[0]}8S32_TN", 16, 8, k, f"{'i' if a == 'S' else 'u'}8", f"{'i' if b == 'S' else 'u'}8", "i32", "sm_80")
      for k in (16, 32) for a in "SU" for b in "SU"),
    *((f"SM89_16x8x32_F32{a}{b}F32_TN", 16, 8, 32, "fp8e" + a[1:].lower(), "fp8e" + b[1:].lower(), "f32", "sm_89")
      for a in ("E4M3", "E5M2") for b in ("E4M3", "E5M2")),
]
# how the operands come, and the shared tiles' layouts for an extent (rows, columns)
FORMS = {
    "rmem": None,
    "smem": "Layout(shape=({r}, {c}), strides=({c}, 1))",
    "columns": "Layout(shape=({r}, {c}), strides=(1, {r}))",
    "padded": "Layout(shape=({r}, {c}), strides=({c} + 16, 1))",
    "swizzled": "ComposedLayout(Swizzle(2, 3, 3), 0, Layout(shape=({r}, {c}), strides=({c}, 1)))",
}


def _operand(rng, dtype, shape):
    """Integers that are exact in the dtype and in every partial sum; high bytes of unsigned ones."""
    if dtype == "u8":
        return rng.integers(0, 256, shape).astype(np.uint8)
    if dtype == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return round_float(dtype, rng.integers(-4, 5, shape).astype(np.float64)).astype(storage(dtype))


def mma_case(atom, form, warps, times):
    name, m, n, k, a_dtype, b_dtype, c_dtype, target = atom
    wm, wn = warps
    M, N, K = m * wm * times[0], n * wn * times[1], k * times[2]
    label = f"mma-{name}-{form}-{wm}x{wn}-{M}x{N}x{K}"
    rng = generator(label)
    a, b = _operand(rng, a_dtype, (M, K)), _operand(rng, b_dtype, (K, N))
    c = rng.integers(-9, 10, (M, N)).astype(storage(c_dtype))
    wide = np.int64 if c_dtype == "i32" else np.float64
    want = (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(storage(c_dtype))
    threads = 32 * wm * wn
    if form == "rmem":
        lines = [f'fa = T.alloc_tensor(TensorType(shape=({M}, {K}), dtype="{a_dtype}", layout=tile.A, storage=rmem))',
                 f'fb = T.alloc_tensor(TensorType(shape=({K}, {N}), dtype="{b_dtype}", layout=tile.B, storage=rmem))', "T.copy(a, fa)", "T.copy(b, fb)"]
    else:
        lines = [f'fa = T.alloc_tensor(TensorType(shape=({M}, {K}), dtype="{a_dtype}", layout={FORMS[form].format(r=M, c=K)}, storage=smem))',
                 f'fb = T.alloc_tensor(TensorType(shape=({K}, {N}), dtype="{b_dtype}", layout={FORMS[form].format(r=K, c=N)}, storage=smem))',
                 *(f"T.copy(T.tensor_view({x}, layout=T.spread(block, ({r}, {q}), 1)), T.tensor_view(f{x}, layout=T.spread(block, ({r}, {q}), 1)))"
                   for x, r, q in (("a", M, K), ("b", K, N))), "T.sync(block)"]
    body = f"""
atom = T.cuda.mma.atom(op=T.cuda.mma.{name})
tile = T.cuda.mma.tile(atom, ({M}, {N}, {K}), ({wm}, {wn}))
with tile.required_scope as block:
    acc = T.alloc_tensor(TensorType(shape=({M}, {N}), dtype="{c_dtype}", layout=tile.C, storage=rmem))
    T.copy(c, acc)
""" + "".join(f"    {line}\n" for line in lines) + "    T.mma(acc, fa, fb, atom=tile)\n    T.copy(acc, y)\n"
    assert M * K % threads == 0 and K * N % threads == 0, label
    return Case(label, ("mma", "copy", "sync"), [("a", tensor((M, K), a_dtype)), ("b", tensor((K, N), b_dtype)), ("c", tensor((M, N), c_dtype)), ("y", tensor((M, N), c_dtype))],
                body, {"a": a, "b": b, "c": c}, {"y": (want, 0, 0)}, target=target, signs=False)


def cases():
    shapes = [((1, 1), (1, 1, 1)), ((1, 1), (2, 3, 2)), ((2, 1), (1, 2, 4)), ((2, 2), (2, 2, 2)), ((1, 4), (2, 1, 3))]
    for i, (atom, form, (warps, times)) in enumerate(itertools.product(ATOMS, FORMS, shapes)):
        m, n, k = atom[1:4]
        elements = (m * warps[0] * times[0] * k * times[2], k * times[2] * n * warps[1] * times[1])
        if any(e % (32 * warps[0] * warps[1]) for e in elements):
            continue
        case = mma_case(atom, form, warps, times)
        case.ci = i % 5 == i // 5 % 5
        yield case
