# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck


def bf16(x, nearest=True):
    bits = np.asarray(x, np.float32).view(np.uint32)
    if nearest:
        bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def toward_zero(x):
    near = x.astype(np.float16)
    over = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(over, np.nextafter(near, np.float16(0)), near)


check = cudacheck.Check(sys.argv)
n = 333
rng = np.random.default_rng(25)
a, b = (rng.standard_normal((2, n, 2)) * 20).astype(np.float16)
w = np.float32
fifth = np.stack([(a[:, 0].astype(w) * w(3)).astype(np.float16), toward_zero(b[:, 1].astype(w) / w(3))], 1)
want = np.stack([a + b, a * b, a - b, np.maximum(a, b), -np.abs(a), fifth])
args = [a, b, cudacheck.poison((6, n, 2), np.float16), cudacheck.poison(n, np.float32), n]
check.run("halves", 3, 128, args, {2: (want, 0, 0), 3: (a[:, 0].astype(w) + b[:, 1].astype(w), 0, 0)})

a, b = (rng.standard_normal((2, n)) * 20).astype(np.float32)
x, y = bf16(a), bf16(b)
want = np.stack([bf16(x * y), bf16(y + x), np.maximum(x, y), bf16(a, nearest=False)])
check.run("bfloats", 3, 128, [a, b, cudacheck.poison((4, n), np.float32), n], {2: (want, 0, 0)})
