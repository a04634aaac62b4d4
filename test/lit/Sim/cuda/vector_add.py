# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(1)
a, b = rng.standard_normal((2, 1000), dtype=np.float32)
check.run("add", 4, 256, [a, b, cudacheck.poison(1000, np.float32), 1000], {2: (a + b, 0, 0)})
