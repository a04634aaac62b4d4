# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n, seed = 500, 0x123456789ABCDEF0
c = [np.arange(n, dtype=np.uint64), np.zeros(n, np.uint64), np.full(n, 7, np.uint64), np.zeros(n, np.uint64)]
k = [seed % 2**32, seed >> 32]
for _ in range(10):
    p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
    low = np.uint64(0xFFFFFFFF)
    c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), p0 & low]
    k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
values = np.stack(c, 1).astype(np.uint32)
x, y = values[:, 0].astype(np.float32) * np.float32(2.0**-32), values[:, 1].astype(np.float32) * np.float32(2.0**-32)
hits = np.count_nonzero(x * x + y * y < np.float32(1))
args = [cudacheck.poison((n, 4), np.uint32), np.zeros(1, np.uint32), seed, n]
check.run("generate", 4, 128, args, {0: (values, 0, 0), 1: ([hits], 0, 0)})
