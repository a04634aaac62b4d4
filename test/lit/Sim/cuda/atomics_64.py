# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n = 200
x = np.random.default_rng(31).integers(-1000, 1000, n).astype(np.float64)
u = [0, 0, 0, 42]
for i in range(n):
    u = [(u[0] + (1 << (i % 50))) % 2**64, max(u[1], i * 12345678901), u[2] ^ (0x0123456789ABCDEF * i % 2**64), 42]
args = [np.zeros(4, np.uint64), np.array([0.5]), np.array([1], np.float32), np.zeros(2, np.float16), np.array([-np.inf]), x, n]
want = {0: (np.array(u, np.uint64), 0, 0), 1: ([0.5 + x.sum()], 0, 0), 2: ([51.0], 0, 0),
        3: (np.array([200, -400], np.float16), 0, 0), 4: ([x.max()], 0, 0)}
check.run("add", 4, 64, args, want)
