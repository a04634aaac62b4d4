# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = (np.random.default_rng(22).standard_normal((7, 83)) * 10).astype(np.float32)
e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
check.run("softmax", 2, 128, [x, cudacheck.poison(x.shape, np.float32), 7, 83], {1: (e / e.sum(1, keepdims=True), 2e-6, 1e-12)})
