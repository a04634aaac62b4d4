# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(16).integers(0, 100, (21, 45)).astype(np.float32)
p = np.pad(x, 1, mode="edge")
want = p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * x
check.run("stencil", (2, 3), (32, 8), [x, cudacheck.poison(x.shape, np.float32), 45, 21], {1: (want, 0, 0)})
