# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
args = [np.zeros(1, np.int32), np.zeros(1, np.int32), cudacheck.poison(96, np.int32)]
check.run("count", 3, 32, args, {0: ([0], 0, 0), 1: ([96], 0, 0)})
order = np.random.default_rng(19).permutation(96).astype(np.int32)
check.run("mark", 1, 96, [order, np.zeros(96, np.int32)], {1: (np.ones(96, np.int32), 0, 0)})
