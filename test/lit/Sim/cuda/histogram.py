# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = (np.random.default_rng(14).standard_normal(9999) * 40 + 128).clip(0, 255).astype(np.uint8)
check.run("histogram", 4, 96, [x, np.zeros(64, np.uint32), 9999], {1: (np.bincount(x // 4, minlength=64).astype(np.uint32), 0, 0)})
