# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(29).integers(-2**31, 2**31, 25000).astype(np.int32)
check.run("reverse", 1, 256, [x, cudacheck.poison(25000, np.int32), 25000], {1: (x[::-1], 0, 0)}, ["--smem=100000"])
check.fails("reverse", 1, 256, [x, cudacheck.poison(25000, np.int32), 25000], "shared", ["--smem=99996"])
