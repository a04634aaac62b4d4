# RUN: %python %s %tf-run %t
"""The recurrence in double precision, for numbers of channels that do and do not fill the last CTA."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(64)
N = 16
for length, channels in ((1, 1), (9, 8), (23, 13)):
    x, dt = rng.standard_normal((2, length, channels)).astype(np.float32)
    b, c = rng.standard_normal((2, length, N)).astype(np.float32)
    a, d = -np.abs(rng.standard_normal((channels, N))).astype(np.float32), rng.standard_normal(channels).astype(np.float32)
    dt = np.abs(dt)
    h, want = np.zeros((channels, N)), np.zeros((length, channels))
    for t in range(length):
        h = np.exp(dt[t][:, None] * a.astype(np.float64)) * h + (dt[t] * x[t])[:, None] * b[t].astype(np.float64)
        want[t] = (h * c[t]).sum(1) + d * x[t]
    inputs = {"x": x, "dt": dt, "a": a, "b": b, "c": c, "d": d}
    check.run("selective_scan.tir", inputs, {"y": (want.astype(np.float32), 1e-5, 1e-5)})
