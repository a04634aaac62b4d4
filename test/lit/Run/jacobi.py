# RUN: %python %s %tf-run %t
"""Rounds of the iteration against the same in NumPy, odd and even ones and none, on grids around the patch; and its abort."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(63)
for height, width, rounds in ((17, 33, 5), (16, 16, 4), (1, 1, 1), (3, 40, 0)):
    f = rng.standard_normal((height, width)).astype(np.float32)
    u = np.zeros_like(f)
    for _ in range(rounds):
        rim = np.pad(u, 1)
        u = ((rim[:-2, 1:-1] + rim[2:, 1:-1] + rim[1:-1, :-2] + rim[1:-1, 2:]) - f) * np.float32(0.25)
    check.run("jacobi.tir", {"f": f, "rounds": rounds}, {"u": (u, 0, 0)})
check.fails("jacobi.tir", {"f": np.zeros((2, 2), np.float32), "rounds": -1}, "jacobi: the number of rounds is negative")
