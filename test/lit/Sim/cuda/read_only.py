# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(30)
n = 77
x = rng.integers(-100, 100, n).astype(np.float32)
v = rng.integers(0, 2**32, (n, 4), np.uint32)
i = np.arange(n)
want = (x * np.array([1.5, -2.25, 0.125])[i % 3] + np.array([-3, 7, 100])[i % 3] + np.array([97, 98, 99])[i % 3]
        + np.array([-22, -44])[i % 2] + np.frombuffer(b"tile\0", np.uint8)[i % 5] + np.bitwise_xor.reduce(v, axis=1))
check.run("look", 2, 64, [x, v, cudacheck.poison(n, np.float64), n], {2: (want, 0, 0)})
