# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(4)
k = 80
a = rng.integers(-9, 10, (32, k)).astype(np.float16)
b = rng.integers(-9, 10, (k, 32)).astype(np.float16)
want = a.astype(np.float32) @ b.astype(np.float32)
check.run("matmul", 1, 64, [a, np.ascontiguousarray(b.T), cudacheck.poison((32, 32), np.float32), k], {2: (want, 0, 0)})
