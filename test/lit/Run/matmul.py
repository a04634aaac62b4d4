# RUN: %python %s %tf-run %t
"""bf16 products into f32: exact on small integers, within the bound of f32 accumulation on random data."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(11)
for kernel in ("matmul.tir", "matmul_stacked.tir"):
    a = rng.integers(-7, 8, (128, 256)).astype(np.float32)
    b = rng.integers(-7, 8, (256, 128)).astype(np.float32)
    check.run(kernel, {"a": a, "b": b}, {"c": (a @ b, 0, 0)})

    a = tfcheck.bf16(rng.standard_normal((128, 256)))
    b = tfcheck.bf16(rng.standard_normal((256, 128)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # Every partial sum is rounded once in f32: at most K roundings of at most the sum of the magnitudes.
    bound = 256 * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    got = check.run(kernel, {"a": a, "b": b}, {"c": (exact, 1e-2, 1e-3)})["c"]
    assert (np.abs(got - exact) <= bound).all(), (np.abs(got - exact) / bound).max()

    # One hot element at a time: any exchange of rows, columns or k-halves shows.
    for i, k, j in ((3, 17, 90), (127, 255, 0), (64, 8, 71)):
        a = np.zeros((128, 256), np.float32)
        b = np.zeros((256, 128), np.float32)
        a[i, k], b[k, j] = 3, 5
        c = np.zeros((128, 128), np.float32)
        c[i, j] = 15
        check.run(kernel, {"a": a, "b": b}, {"c": (c, 0, 0)})
