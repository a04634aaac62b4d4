# RUN: %python %s %tf-run %t
"""Sums of rows and of columns, exact on small integers, for sizes around every tile and vector."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(55)
for vec, shapes in ((4, ((1, 4), (3, 252), (4, 256), (5, 260), (19, 1028))), (1, ((1, 1), (7, 31), (8, 33), (9, 255), (17, 257)))):
    for shape in shapes:
        x = rng.integers(-1000, 1000, shape).astype(np.float32)
        check.run("reduce_rows.tir", {"x": x}, {"y": (x.sum(axis=1, keepdims=True), 0, 0)}, [f"-DVEC={vec}"])
        check.run("reduce_cols.tir", {"x": x}, {"y": (x.sum(axis=0, keepdims=True), 0, 0)}, [f"-DVEC={vec}"])
