# RUN: %python %s %tf-run %t
"""Every code of four bits in both halves of a byte, scales by group, numbers of rows around the tile."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(65)
for m, tiles, groups in ((33, 2, 3), (1, 1, 1), (32, 1, 2)):
    x = rng.standard_normal((m, 64 * groups)).astype(np.float16)
    code = rng.integers(0, 16, (64 * groups, 64 * tiles))
    code[0, :32] = np.arange(32) % 16  # all codes, in even and odd columns
    code[1, :32] = np.arange(1, 33) % 16
    scale = rng.standard_normal((groups, 64 * tiles)).astype(np.float16)
    w = ((code - 8) * np.repeat(scale, 64, 0).astype(np.float64)).astype(np.float16)
    packed = (code[:, ::2] | code[:, 1::2] << 4).astype(np.uint8)
    want = (x.astype(np.float64) @ w.astype(np.float64)).astype(np.float16)
    check.run("matmul_w4.tir", {"x": x, "packed": packed, "scale": scale}, {"c": (want, 2e-3, 2e-2)})
