# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
flags = np.array([1] + [0] * 9, np.int32)
value = 5
for b in range(10):
    value = value * 3 + b
check.run("chain", 10, 32, [flags, np.array([5], np.int32), 10], {1: ([value], 0, 0)})
