# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(32).integers(-6, 7, 32).astype(np.int32)
t = np.arange(32)
mask = lambda b: sum(1 << int(i) for i in np.flatnonzero(b))
third = t % 3 == 1
want = np.array([[mask(x == v) for v in x], [(2**32 - 1) * 2 % 2**32 + 1] * 32, [mask(x > 3)] * 32,
                 [1 + 2 * int((x == 5).any())] * 32, np.where(third, 0x92492492, 0),
                 np.where(third, x[third].sum(), x[~third].max()) % 2**32,
                 [np.bitwise_xor.reduce(x) % 2**32] * 32], np.uint64).astype(np.uint32)
check.run("match", 1, 32, [x, cudacheck.poison((7, 32), np.uint32)], {1: (want, 0, 0)})

up = np.where(t % 8 >= 3, x[t - 3], x)
down = np.where(t % 16 + 5 < 16, x[np.minimum(t + 5, 31)], x)
wide = ((x.astype(np.int64)[31 - t] << 20) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
want = np.array([x[(t * 7 + 3) % 32], up, down, x[t ^ 9], x[t // 4 * 4 + 2], wide], np.int32)
check.run("shuffle", 1, 32, [x, cudacheck.poison((6, 32), np.int32)], {1: (want, 0, 0)})
