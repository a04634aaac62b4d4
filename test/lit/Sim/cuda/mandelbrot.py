# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv, flags=("-fmad=false",))
w, h, limit = 50, 33, 100
cx = (-2.0 + 3.0 * np.arange(w) / w)[None, :]
cy = (-1.5 + 3.0 * np.arange(h) / h)[:, None]
x, y, n = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.uint16)
alive = np.ones((h, w), bool)
for _ in range(limit):
    alive &= x * x + y * y <= 4.0
    x, y = np.where(alive, x * x - y * y + cx, x), np.where(alive, 2.0 * (x * y) + cy, y)
    n += alive
check.run("mandelbrot", (4, 5), (16, 8), [cudacheck.poison((h, w), np.uint16), w, h, limit], {0: (n, 0, 0)})
