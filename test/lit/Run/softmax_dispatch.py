# RUN: %python %s %tf-run %t
"""Softmax by a dispatch over the width: at both ends of all three ranges, and beyond the last."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(66)
for rows, width in ((1, 1), (5, 127), (6, 128), (3, 129), (2, 2048), (3, 2049), (2, 5001)):
    x = (rng.standard_normal((rows, width)) * 8).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    check.run("softmax_dispatch.tir", {"x": x}, {"y": ((e / e.sum(axis=1, keepdims=True)).astype(np.float32), 1e-5, 1e-37)})

GAPS = (check.kernels / "softmax_dispatch.tir").read_text().replace("2049, 1048576", "4000, 1048576")
x = np.zeros((1, 3000), np.float32)
check.fails(GAPS, {"x": x}, "no kernel takes this width")
