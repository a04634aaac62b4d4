# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(41)
dense = rng.integers(-5, 6, (13, 90)) * (rng.random((13, 90)) < 0.4)
dense[4] = 0
start = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
col = np.nonzero(dense)[1].astype(np.int32)
x = rng.integers(-9, 9, 90).astype(np.float64)
args = [start, col, dense[dense != 0].astype(np.float64), x, cudacheck.poison(13, np.float64), 13]
check.run("spmv", 4, 128, args, {4: (dense @ x, 0, 0)})
