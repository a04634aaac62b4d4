# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
cells = np.random.default_rng(21).integers(-9, 9, 320).astype(np.int32)
want = cells.copy()
for r in range(6):
    want = np.roll(want, 37) - np.roll(want, -41) + r
check.run("rounds", 5, 64, [cells, 6], {0: (want, 0, 0)}, ["--cooperative"])
