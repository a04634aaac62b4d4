# RUN: %python %s %tf-run %t
"""Named barriers between neighbouring warps."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
x = np.random.default_rng(3).standard_normal((3, 32), dtype=np.float32)
second = (x[0] * np.float32(3))[::-1] + x[1]
check.run("relay.tir", {"x": x}, {"y": (np.roll(second, -5) - x[2], 0, 0)})
