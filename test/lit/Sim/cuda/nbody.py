# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
n = 150
body = np.random.default_rng(18).standard_normal((n, 4)).astype(np.float32)
body[:, 3] = np.abs(body[:, 3])
d = body[None, :, :3].astype(np.float64) - body[:, None, :3]
want = (d * (body[None, :, 3] * ((d**2).sum(2) + 0.01) ** -1.5)[:, :, None]).sum(1)
check.run("accelerate", 3, 64, [body, cudacheck.poison((n, 3), np.float32), n], {1: (want, 2e-5, 2e-3)})
