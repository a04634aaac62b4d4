# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(10).integers(-50, 50, 391).astype(np.int32)
check.run("scan", 1, 416, [x, cudacheck.poison(391, np.int32), 391], {1: (np.cumsum(x).astype(np.int32), 0, 0)},
          [f"--smem={2 * 416 * 4}"])
