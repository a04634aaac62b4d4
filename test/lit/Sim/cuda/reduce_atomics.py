# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = (np.random.default_rng(7).integers(0, 2**32, 777, np.uint32) | 0x11) & np.uint32(0xFFFFFF7F)
out = np.array([5, 2**32 - 1, 2**31, 2**32 - 1, 0, 0, 0, 7], np.uint32)
count = dec = 0
dec = 7
for _ in range(777):
    count = 0 if count >= 100 else count + 1
    dec = 50 if dec == 0 or dec > 50 else dec - 1
want = np.array([(5 + int(x.sum(dtype=np.uint64))) % 2**32, x.min(), x.view(np.int32).max().view(np.uint32),
                 np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), count, dec], np.uint32)
check.run("reduce", 7, 128, [x, out, 777], {1: (want, 0, 0)})
