# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(11).integers(0, 100, 512).astype(np.float32)
check.run("scan", 1, 256, [x, cudacheck.poison(512, np.float32)], {1: (np.cumsum(x) - x, 0, 0)})
