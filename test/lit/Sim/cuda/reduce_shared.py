# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(6).integers(0, 50, 999).astype(np.float32)
args = [x, cudacheck.poison(1, np.float32), cudacheck.poison(1, np.int32), 999]
check.run("argmax", 1, 256, args, {1: ([x.max()], 0, 0), 2: ([x.argmax()], 0, 0)})
