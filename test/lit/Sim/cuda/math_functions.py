# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import math
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n = 150
x = (np.random.default_rng(35).standard_normal(n) * 4).astype(np.float32)
v = x.astype(np.float64)
a = np.abs(v)
want = np.array([np.sin(v), np.cos(v), np.exp(v), np.log(a), a**np.float64(np.float32(1.7)), np.tanh(v), np.arctan2(v, 3), np.sqrt(a),
                 np.cbrt(v), [math.erf(t) for t in v], np.floor(v), np.trunc(v), np.rint(v), np.fmod(v, np.float64(np.float32(0.7))),
                 np.log2(a), np.exp2(v), a**-0.5, np.hypot(v, 2)])
check.run("single", 2, 96, [x, cudacheck.poison(want.shape, np.float32), n], {1: (want, 1e-6, 1e-7)})
d = np.random.default_rng(36).standard_normal(n) * 4
want = np.array([np.sin(d), np.exp(d), np.log(np.abs(d)), np.abs(d)**1.7, np.tan(d), np.sqrt(np.abs(d)), np.arctan(d), np.rint(d)])
check.run("twice", 2, 96, [d, cudacheck.poison(want.shape, np.float64), n], {1: (want, 1e-14, 1e-15)})
