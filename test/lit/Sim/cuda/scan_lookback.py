# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n = 2345
x = np.random.default_rng(12).integers(0, 2**31, n).astype(np.uint32)
blocks = -(-n // 128)
args = [x, cudacheck.poison(n, np.uint32), np.zeros(1, np.uint32), np.zeros(blocks, np.uint64), n]
check.run("scan", blocks, 128, args, {1: (np.cumsum(x, dtype=np.uint64).astype(np.uint32), 0, 0)})
