# RUN: %python %s %tf-run %t
"""Operands read as another type than they have: bf16 as pairs of f16, u8 as i8 (240 as -16), tf32 cut off instead of rounded; sums
that are kept in f16 where f32 was asked for; halves of K, or registers 1 and 2 of A, exchanged. All through one-hot or asymmetric
data, in which each of these gives another number."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(67)
PRODUCT = """
atom = T.cuda.mma.atom(op=T.cuda.mma.{atom})
tile = T.cuda.mma.tile(atom, (16, 8, {k}), (1, 1))


@prim_func(target=CudaTarget("sm_89"))
def product(a: Tensor[(16, {k}), "{ta}"], b: Tensor[({k}, 8), "{tb}"], c: Tensor[(16, 8), "{tc}"]):
    with tile.required_scope as warp:
        acc = T.alloc_tensor(TensorType((16, 8), "{tc}", tile.C, rmem))
        x = T.alloc_tensor(TensorType((16, {k}), "{ta}", tile.A, rmem))
        y = T.alloc_tensor(TensorType(({k}, 8), "{tb}", tile.B, rmem))
        T.copy(a, x)
        T.copy(b, y)
        T.fill(acc, 0)
        T.mma(acc, x, y, atom=tile)
        T.copy(acc, c)
"""


def product(atom, k, ta, tb, tc, a, b, want):
    check.run(PRODUCT.format(atom=atom, k=k, ta=ta, tb=tb, tc=tc), {"a": a, "b": b}, {"c": (want, 0, 0)})


# 2^100 has no f16; as a pair of halves its bits are small numbers.
a, b = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32)
a[3, 5], b[5, 6] = 2.0**100, 2.0**-90
product("SM80_16x8x16_F32BF16BF16F32_TN", 16, "bf16", "bf16", "f32", a, b, a @ b)

# Every pair of signs over 8 bits, each product in a place of its own.
values = np.array([0xF0, 0x7F, 0x80, 1], np.uint8)
for name, ta, tb in (("S8S8", np.int8, np.int8), ("U8U8", np.uint8, np.uint8), ("S8U8", np.int8, np.uint8), ("U8S8", np.uint8, np.int8)):
    a, b = np.zeros((16, 32), ta), np.zeros((32, 8), tb)
    a[[2, 7, 8, 13], [1, 14, 19, 30]] = values.view(ta)
    b[[1, 14, 19, 30], [0, 3, 4, 7]] = values[::-1].copy().view(tb)
    want = a.astype(np.int32) @ b.astype(np.int32)
    assert np.count_nonzero(want) == 4
    product(f"SM80_16x8x32_S32{name}S32_TN", 32, *("u8" if t == np.uint8 else "i8" for t in (ta, tb)), "i32", a, b, want)

# Blocks of K tell halves apart, rows tell the registers of A apart: no two entries are equal.
a = np.arange(256, dtype=np.float32).reshape(16, 16)
for column in range(0, 16, 3):
    b = np.zeros((16, 8), np.float32)
    b[column, column % 8] = 1
    product("SM80_16x8x16_F32F16F16F32_TN", 16, "f16", "f16", "f32", a.astype(np.float16), b.astype(np.float16), a @ b)

# K = 4096 ones: f32 counts them all, f16 stops at 2048 where one more is half a step.
LONG = """
tile = T.cuda.mma.tile(T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32F16F16F32_TN), (16, 8, 64), (1, 1))


@prim_func(target=CudaTarget("sm_80"))
def long(a: Tensor[(16, 4096), "f16"], b: Tensor[(4096, 8), "f16"], c: Tensor[(16, 8), "f32"]):
    with tile.required_scope as warp:
        acc = T.alloc_tensor(TensorType((16, 8), "f32", tile.C, rmem))
        x = T.alloc_tensor(TensorType((16, 64), "f16", tile.A, rmem))
        y = T.alloc_tensor(TensorType((64, 8), "f16", tile.B, rmem))
        T.fill(acc, 0.0)
        for k in range(0, 4096, 64):
            T.copy(T.tensor_view(a, 0, k, shape=(16, 64)), x)
            T.copy(T.tensor_view(b, k, 0, shape=(64, 8)), y)
            T.mma(acc, x, y, atom=tile)
        T.copy(acc, c)
"""
a = np.repeat(np.arange(1, 17, dtype=np.float16)[:, None], 4096, axis=1)
b = np.ones((4096, 8), np.float16)
check.run(LONG, {"a": a, "b": b}, {"c": (a.astype(np.float32) @ b.astype(np.float32), 0, 0)})

# 1 + 2^-11 lies in the middle of two tf32 numbers and goes away from zero; cutting it off gives 1. Then through a product.
TF32 = """
atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x8_F32TF32TF32F32_TN)


@prim_func(target=CudaTarget("sm_80"))
def product(a: Tensor[(16, 8), "f32"], b: Tensor[(8, 8), "f32"], r: Tensor[(16, 8), "f32"], c: Tensor[(16, 8), "f32"]):
    with atom.required_scope as warp:
        x = T.alloc_tensor(TensorType((16, 8), "tf32", atom.A, rmem))
        y = T.alloc_tensor(TensorType((8, 8), "tf32", atom.B, rmem))
        acc = T.alloc_tensor(TensorType((16, 8), "f32", atom.C, rmem))
        T.unary(a, x, kind="cast")
        T.unary(b, y, kind="cast")
        T.unary(x, r, kind="cast")
        T.fill(acc, 0.0)
        T.mma(acc, x, y, atom=atom)
        T.copy(acc, c)
"""
a = np.ones((16, 8), np.float32)
a.ravel()[:6] = [1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-11 - 2.0**-20, 1 + 3 * 2.0**-11, 2 - 2.0**-11, 2.0**-11]
rounded = a.copy()
rounded.ravel()[:6] = [1 + 2.0**-10, -1 - 2.0**-10, 1, 1 + 2 * 2.0**-10, 2, 2.0**-11]
b = rng.integers(-3, 4, (8, 8)).astype(np.float32)
check.run(TF32, {"a": a, "b": b}, {"r": (rounded, 0, 0), "c": (rounded @ b, 0, 0)})
