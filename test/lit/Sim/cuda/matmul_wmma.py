# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(3)
m, n, k = 32, 48, 64
a = rng.integers(-9, 10, (m, k)).astype(np.float16)
b = rng.integers(-9, 10, (k, n)).astype(np.float16)
want = a.astype(np.float32) @ b.astype(np.float32)
check.run("matmul", (3, 2), 32, [a, b, cudacheck.poison((m, n), np.float32), n, k], {2: (want, 0, 0)})
