# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(2)
m, n, k = 45, 70, 33
a = rng.integers(-9, 10, (m, k)).astype(np.float32)
b = rng.integers(-9, 10, (k, n)).astype(np.float32)
check.run("matmul", (5, 3), (16, 16), [a, b, cudacheck.poison((m, n), np.float32), m, n, k], {2: (a @ b, 0, 0)})
