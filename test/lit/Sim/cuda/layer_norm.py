# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(23)
x = (rng.standard_normal((5, 301)) * 3 + 10).astype(np.float32)
gain, bias = rng.standard_normal((2, 301)).astype(np.float32)
wide = x.astype(np.float64)
want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gain + bias
check.run("layer_norm", 5, 128, [x, gain, bias, cudacheck.poison(x.shape, np.float32), 301, 1e-5], {3: (want, 1e-5, 2e-5)})
