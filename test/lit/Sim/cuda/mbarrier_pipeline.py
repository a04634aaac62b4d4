# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv, targets=("sm_90",))
x = np.random.default_rng(40).integers(-9, 9, (7, 64)).astype(np.int32)
total = np.zeros(32, np.int32)
for row in x:
    total = total * 3 + row[:32] - row[63:31:-1]
check.run("pipeline", 1, 64, [x, cudacheck.poison(32, np.int32), 7], {1: (total, 0, 0)})
