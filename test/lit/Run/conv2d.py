# RUN: %python %s %tf-run %t
"""The convolution for images narrower and wider than a strip, one pixel small, and several tiles of outputs."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(61)
C = 64
for n, height, width, outputs in ((2, 3, 70, 64), (1, 1, 1, 128), (1, 5, 64, 64), (1, 2, 9, 64)):
    x = rng.standard_normal((n, height, width, C)).astype(np.float16)
    w = (rng.standard_normal((9, C, outputs)) * 0.1).astype(np.float16)
    rim = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = sum(rim[:, p : p + height, q : q + width] @ w[3 * p + q].astype(np.float64) for p in range(3) for q in range(3))
    check.run("conv2d.tir", {"x": x, "w": w}, {"y": (want.astype(np.float16), 2e-3, 2e-3)})
