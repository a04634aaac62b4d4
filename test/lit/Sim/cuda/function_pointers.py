# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(28).integers(-100, 100, 70).astype(np.int32)
i = np.arange(70)
want = np.select([i % 3 == 0, i % 3 == 1], [2 * x, x * x], -x) + np.where(i % 2 == 1, i * i, i + 5)
check.run("call", 1, 96, [x, cudacheck.poison(70, np.int32), 70], {1: (want.astype(np.int32), 0, 0)})
