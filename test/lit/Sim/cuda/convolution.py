# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(17).integers(0, 256, (19, 37, 3)).astype(np.uint8)
taps = np.array([1, 4, 6, 4, 1])
p = np.pad(x.astype(np.int64), ((2, 2), (2, 2), (0, 0)))
total = sum(taps[u] * taps[v] * p[v:v + 19, u:u + 37] for u in range(5) for v in range(5))
check.run("blur", (3, 3), (16, 8), [x, cudacheck.poison(x.shape, np.uint8), 37, 19], {1: (((total + 128) >> 8).astype(np.uint8), 0, 0)})
