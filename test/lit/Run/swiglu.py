# RUN: %python %s %tf-run %t
"""The gated product for sizes around the tile; no byte past the end is read or written (the checkers see to it)."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(51)
for n in (1, 3, 4, 1021, 1023, 1024, 1025, 5000):
    gate = (rng.standard_normal(n) * 4).astype(np.float32)
    up = rng.standard_normal(n).astype(np.float32)
    gate[0] = -100  # exp(100) overflows f32: the quotient is -0
    want = gate / (1 + np.exp(-gate.astype(np.float64))) * up
    check.run("swiglu.tir", {"gate": gate, "up": up}, {"out": (want.astype(np.float32), 2e-6, 1e-37)})
