# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(20).integers(-99, 99, (9, 32)).astype(np.int32)
want = (x * np.arange(1, 10)[:, None]).sum(0)[::-1].astype(np.int32)
check.run("pipeline", 1, 64, [x, cudacheck.poison(32, np.int32), 9], {1: (want, 0, 0)})
