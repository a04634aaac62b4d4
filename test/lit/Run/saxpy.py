# RUN: %python %s %tf-run %t
"""out = a*x + y, rounded after the product and after the sum."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(7)
for rows in (1, 37, 1000):
    x = rng.standard_normal((rows, 512), dtype=np.float32) * 100
    y = rng.standard_normal((rows, 512), dtype=np.float32)
    check.run("saxpy.tir", {"a": 2.625, "x": x, "y": y}, {"out": (np.float32(2.625) * x + y, 0, 0)})
