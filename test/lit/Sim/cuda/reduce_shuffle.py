# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(5).integers(-1000, 1000, 5001).astype(np.int32)
padded = np.resize(np.append(x, np.zeros(768 * 7 - 5001, np.int32)), (7, 3, 256))
want = padded.sum(axis=(0, 2)).astype(np.int32)
check.run("sum", 3, 256, [x, cudacheck.poison(3, np.int32), 5001], {1: (want, 0, 0)})
