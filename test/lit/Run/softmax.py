# RUN: %python %s %tf-run %t
"""Softmax of rows of any width, rows with infinities and NaN among them."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(53)


def softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
        return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


for vec, shapes in ((4, ((1, 4), (3, 508), (2, 512), (3, 516), (5, 1700))), (1, ((2, 1), (3, 97), (2, 511), (2, 513), (4, 1025)))):
    for shape in shapes:
        x = (rng.standard_normal(shape) * 8).astype(np.float32)
        check.run("softmax.tir", {"x": x}, {"y": (softmax(x), 1e-5, 1e-37)}, [f"-DVEC={vec}"])

x = (rng.standard_normal((5, 100)) * 8).astype(np.float32)
x[0, 17:] = -np.inf  # masked
x[1] = -np.inf       # all of it: 0 / 0
x[2, 99] = np.nan
x[3, 3] = np.inf
x[4] = 3e38          # equal and huge
check.run("softmax.tir", {"x": x}, {"y": (softmax(x), 1e-5, 1e-37)})
