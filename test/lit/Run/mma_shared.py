# RUN: %python %s %tf-run %t
"""Products from shared tiles in every storage order: rows or columns contiguous, padded, swizzled; through fragments that the
author fills and straight from the tiles."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(29)

KERNEL = """from tilefoundry import *
tile = T.cuda.mma.tile(T.cuda.mma.atom(op=T.cuda.mma.{atom}), ({m}, {n}, {k}), {warps})

@prim_func(target=CudaTarget("{target}"))
def product(a: Tensor[({m}, {k}), "{ta}"], b: Tensor[({k}, {n}), "{ta}"], c: Tensor[({m}, {n}), "{tc}"]) -> None:
    with tile.required_scope as block:
        at = T.alloc_tensor(TensorType(shape=({m}, {k}), dtype="{ta}", layout={a_layout}, storage=smem))
        bt = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{ta}", layout={b_layout}, storage=smem))
        acc = T.alloc_tensor(TensorType(shape=({m}, {n}), dtype="{tc}", layout=tile.C, storage=rmem))
        T.copy(a, at)
        T.copy(b, bt)
        T.fill(acc, {zero})
        T.sync(block)
{body}
        T.copy(acc, c)
"""

FRAGMENTS = """        x = T.alloc_tensor(TensorType(shape=({m}, {k}), dtype="{ta}", layout=tile.A, storage=rmem))
        y = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{ta}", layout=tile.B, storage=rmem))
        T.copy(at, x)
        T.copy(bt, y)
        T.mma(acc, x, y, atom=tile)"""
STRAIGHT = "        T.mma(acc, at, bt, atom=tile)"
MIXED = """        y = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{ta}", layout=tile.B, storage=rmem))
        T.copy(bt, y)
        T.mma(acc, at, y, atom=tile)"""


def layouts(rows, columns, bits):
    """Storage orders of a rows x columns tile; swizzles leave 16 bytes together."""
    chunk = {8: 4, 16: 3, 32: 2, 64: 1}[bits]
    pad = 128 // bits
    yield "None"
    yield f"Layout(shape=({rows}, {columns}), strides=({columns + pad}, 1))"
    yield f"Layout(shape=({rows}, {columns}), strides=(1, {rows}))"
    yield f"Layout(shape=({rows}, {columns}), strides=(1, {rows + pad}))"
    yield f"ComposedLayout(Swizzle(2, {chunk}, 3), 0, Layout(shape=({rows}, {columns}), strides=({columns}, 1)))"
    yield f"ComposedLayout(Swizzle(2, {chunk}, 3), 0, Layout(shape=({rows}, {columns}), strides=(1, {rows})))"
    yield f"Layout(shape=({rows}, {columns}), strides=({columns + 1}, 1))"  # rows at odd addresses: no ldmatrix


CASES = [("SM80_16x8x16_F32BF16BF16F32_TN", 32, 32, 48, "bf16", "f32", 16, "sm_80"),
         ("SM80_16x8x16_F32F16F16F32_TN", 64, 16, 32, "f16", "f32", 16, "sm_90"),
         ("SM80_16x8x8_F32TF32TF32F32_TN", 32, 32, 16, "tf32", "f32", 32, "sm_80"),
         ("SM80_16x8x32_S32S8S8S32_TN", 32, 16, 64, "i8", "i32", 8, "sm_80"),
         ("SM80_8x8x4_F64F64F64F64_TN", 16, 32, 12, "f64", "f64", 64, "sm_80")]
NUMPY = {"f16": np.float16, "f64": np.float64, "i8": np.int8}

for atom, m, n, k, ta, tc, bits, target in CASES:
    a_orders, b_orders = list(layouts(m, k, bits)), list(layouts(k, n, bits))
    for turn, a_layout in enumerate(a_orders):
        # Each order of A meets another one of B, and all three ways take turns.
        b_layout = b_orders[(2 * turn + 1) % len(b_orders)]
        warps = ((2, 2), (1, 2), (2, 1), (1, 1))[turn % 4]
        body = (FRAGMENTS, STRAIGHT, MIXED)[turn % 3].format(m=m, n=n, k=k, ta=ta)
        text = KERNEL.format(atom=atom, warps=warps, m=m, n=n, k=k, ta=ta, tc=tc, target=target, a_layout=a_layout, b_layout=b_layout,
                             zero="0" if tc == "i32" else "0.0", body=body)
        a = rng.integers(-7, 8, (m, k)).astype(NUMPY.get(ta, np.float32))
        b = rng.integers(-7, 8, (k, n)).astype(NUMPY.get(ta, np.float32))
        want = (a.astype(np.float64) @ b.astype(np.float64)).astype({"f64": np.float64, "i32": np.int32}.get(tc, np.float32))
        check.run(text, {"a": a, "b": b}, {"c": (want, 0, 0)})

# Windows of larger swizzled tiles, at places known only at run time: their starts carry into the bits that the swizzle moves.
WINDOWS = """from tilefoundry import *
tile = T.cuda.mma.tile(T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN), (64, 64, 32), (2, 2))

@prim_func(target=CudaTarget("sm_80"))
def product(r: Tensor[(), "i32"], q: Tensor[(), "i32"], a: Tensor[(96, 64), "bf16"], b: Tensor[(64, 128), "bf16"], c: Tensor[(64, 64), "f32"]) -> None:
    with tile.required_scope as block:
        at = T.alloc_tensor(TensorType(shape=(96, 64), dtype="bf16", layout=ComposedLayout({a_swizzle}, 0, Layout(shape=(96, 64), strides=(64, 1))), storage=smem))
        bt = T.alloc_tensor(TensorType(shape=(64, 128), dtype="bf16", layout=ComposedLayout({b_swizzle}, 0, Layout(shape=(64, 128), strides=(128, 1))), storage=smem))
        acc = T.alloc_tensor(TensorType(shape=(64, 64), dtype="f32", layout=tile.C, storage=rmem))
        T.copy(a, at)
        T.copy(b, bt)
        T.fill(acc, 0.0)
        T.sync(block)
        T.mma(acc, T.tensor_view(at, 8 * r, 16 * q, shape=(64, 32)), T.tensor_view(bt, 8 * q, 8 * r, shape=(32, 64)), atom=tile)
        T.copy(acc, c)
"""
for a_swizzle, b_swizzle in (("Swizzle(3, 3, 3)", "Swizzle(3, 3, 4)"), ("Swizzle(2, 3, 4)", "Swizzle(1, 4, 3)"),
                             ("Swizzle(3, 4, 2)", "Swizzle(3, 3, 3)"), ("Swizzle(3, 2, 3)", "Swizzle(2, 3, 2)")):
    for r, q in ((0, 0), (1, 1), (4, 2), (3, 0)):
        a = rng.integers(-7, 8, (96, 64)).astype(np.float32)
        b = rng.integers(-7, 8, (64, 128)).astype(np.float32)
        want = a[8 * r:8 * r + 64, 16 * q:16 * q + 32] @ b[8 * q:8 * q + 32, 8 * r:8 * r + 64]
        check.run(WINDOWS.format(a_swizzle=a_swizzle, b_swizzle=b_swizzle), {"r": r, "q": q, "a": a, "b": b}, {"c": (want, 0, 0)})
