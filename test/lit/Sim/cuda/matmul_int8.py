# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(38)
a = rng.integers(-128, 128, (16, 32)).astype(np.int8)
b = rng.integers(-128, 128, (8, 32)).astype(np.int8)
init = np.array([[1, 2], [3, 4]]).repeat(8, 0)
want = a.astype(np.int32) @ b.T.astype(np.int32) + np.tile(init, (1, 4))
check.run("matmul", 1, 32, [a, b, cudacheck.poison((16, 8), np.int32)], {2: (want.astype(np.int32), 0, 0)})
