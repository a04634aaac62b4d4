# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(13).standard_normal((50, 75))
check.run("transpose", (3, 2), (32, 8), [x, cudacheck.poison((75, 50), np.float64), 50, 75], {1: (x.T, 0, 0)})
