# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
"""The places depend on the order of arrival, so the test compares the count and, after sorting on the device, the values."""
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
x = np.random.default_rng(8).integers(1, 10000, 300).astype(np.int32)
kept = np.sort(x[x % 3 == 0])
out = np.zeros(300, np.int32)
check.run("compact", 3, 128, [x, out, np.zeros(1, np.int32), 300], {2: ([kept.size], 0, 0)})
shuffled = np.random.default_rng(9).permutation(kept).astype(np.int32)
check.run("order", 1, 64, [shuffled, np.array([kept.size], np.int32)], {0: (kept, 0, 0)})
