# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.arange(40, dtype=np.int32)
check.run("check", 1, 64, [x, 40], {})
check.run("stop", 1, 32, [32], {})
x[33] = -1
check.fails("check", 1, 64, [x, 40], "device_assert.cu:5")
check.fails("stop", 1, 32, [7], "trap")
