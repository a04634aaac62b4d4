# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
keys = np.random.default_rng(15).permutation(512).astype(np.int32) * 7 - 1000
values = np.arange(512, dtype=np.int16) * 3
order = np.argsort(keys)
check.run("sort", 1, 512, [keys, values], {0: (keys[order], 0, 0), 1: (values[order], 0, 0)}, [f"--smem={512 * 6}"])
