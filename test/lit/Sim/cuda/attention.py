# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(24)
q = rng.standard_normal((6, 32)).astype(np.float32)
k, v = rng.standard_normal((2, 77, 32)).astype(np.float32)
s = q.astype(np.float64) @ k.T / np.sqrt(32)
p = np.exp(s - s.max(1, keepdims=True))
want = p @ v / p.sum(1, keepdims=True)
check.run("attention", 2, 128, [q, k, v, cudacheck.poison(q.shape, np.float32), 6, 77], {3: (want, 1e-5, 1e-5)})
