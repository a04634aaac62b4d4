# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
"""The struct travels as its bytes: nine ints, padding, a double, a char, padding."""
import ctypes
import struct
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n = 90
rng = np.random.default_rng(37)
table = rng.integers(-50, 50, 9).astype(np.int32)
x = rng.integers(0, 1000, n).astype(np.int32)
raw = np.frombuffer(struct.pack("<9i4xdb7x", *table.tolist(), 0.375, 77), np.uint8)


def wrap(value):
    return ctypes.c_int32(value).value


def mixed(v):
    order = [(k * 7 + v) & 15 for k in range(16)]
    for k in range(16):
        order[order[k]] = order[(order[k] + 3) & 15] ^ k
    total = 0
    for k in range(16):
        kind = order[k] & 7
        total = wrap([total + 1, total * 3, total - int(table[k % 9]), total ^ 0x55, total + v, total * 2 + 1, total - 9,
                      total + 77][kind])
    return total * 0.375


want = np.array([mixed(int(v)) for v in x])
np.save(check.scratch / "struct.npy", raw)
check.run("mix", 1, 96, [f"@{check.scratch / 'struct.npy'}", x, cudacheck.poison(n, np.float64), n], {2: (want, 0, 0)})
