# RUN: %python %s %tf-run %t
"""RMSNorm fused into a product, for any number of rows; the rows differ in scale by powers of ten."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(63)
for m, n, k in ((1, 1, 1), (63, 1, 2), (64, 2, 5), (65, 1, 3), (200, 1, 2)):
    x = tfcheck.bf16(rng.standard_normal((m, 32 * k)) * 10.0 ** rng.integers(-3, 3, (m, 1)))
    w = tfcheck.bf16(1 + rng.standard_normal(32 * k) * 0.3)
    b = tfcheck.bf16(rng.standard_normal((32 * k, 128 * n)))
    wide = x.astype(np.float64)
    factor = 1 / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + 1e-6)
    want = factor * ((wide * w) @ b)
    # x * w is rounded to bf16 once for each product, the result once.
    bound = 2.0**-9 * (factor * (np.abs(wide * w) @ np.abs(b))) + 2.0**-8 * np.abs(want)
    for options in ([], ["--seed=2"]) if m == 64 else ([],):
        got = check.run("rms_norm_matmul.tir", {"x": x, "w": w, "b": b}, {"y": (want, 0.1, 1)}, options)["y"]
        assert (np.abs(got - want) <= bound).all(), (m, n, k, (np.abs(got - want) / bound).max())
