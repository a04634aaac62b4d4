# RUN: %python %s %tf-run %t
"""RMSNorm of bf16 rows a CTA each, and of a whole f32 tensor distributed over CTAs, warps and lanes."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(54)


def rms_norm(x, w, eps):
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * w


for rows in (1, 3):
    x = tfcheck.bf16(rng.standard_normal((rows, 4096)) * [[10.0 ** (3 * r)] for r in range(rows)])
    w = tfcheck.bf16(rng.standard_normal(4096))
    # One rounding to bf16: half an ulp of 2^-8, and the f32 sums before it.
    check.run("rms_norm.tir", {"x": x, "w": w}, {"y": (rms_norm(x, w, 1e-6), 2.0**-8, 0)})

for rows in (1, 5):
    x = rng.standard_normal((rows, 1536)).astype(np.float32) * np.float32(3)
    x[0, :] *= np.float32(1e-4)  # eps counts, and stands inside the root
    w = rng.standard_normal(1536).astype(np.float32)
    check.run("rms_norm_sharded.tir", {"x": x, "w": w}, {"y": (rms_norm(x, w, 1e-5), 1e-5, 0)})
