# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(39)


def tf32(x):  # round to nearest, ties away from zero
    return ((x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


a, b = rng.standard_normal((16, 8)).astype(np.float32), rng.standard_normal((8, 8)).astype(np.float32)
a[3, 5] = 1 + 2.0**-11
want = tf32(a).astype(np.float64) @ tf32(b).astype(np.float64)
check.run("tf32", 1, 32, [a, b, cudacheck.poison((16, 8), np.float32)], {2: (want, 1e-6, 1e-6)})
a, b = rng.integers(-99, 99, (8, 4)).astype(np.float64), rng.integers(-99, 99, (4, 8)).astype(np.float64)
want = a @ b + np.tile([0.5, -0.5], 4)
check.run("f64", 1, 32, [a, b, cudacheck.poison((8, 8), np.float64)], {2: (want, 0, 0)})
