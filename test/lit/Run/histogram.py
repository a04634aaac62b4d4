# RUN: %python %s %tf-run %t
"""Counts added to what is there, for lengths around a thread's 16 bytes and a round of all CTAs; the intrinsics refuse other memory."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(62)
for n, ctas in ((1, 32), (15, 32), (16, 2), (17, 2), (8191, 2), (20000, 2)):
    x = (rng.integers(0, 256, n) ** 2 % 251).astype(np.uint8)
    before = rng.integers(0, 1000, 256).astype(np.uint32)
    want = before + np.bincount(x, minlength=256).astype(np.uint32)
    check.run("histogram.tir", {"x": x, "counts": before}, {"counts": (want, 0, 0)}, ["-D", f"CTAS={ctas}"])

text = (check.kernels / "histogram.tir").read_text()
x = np.zeros(9, np.uint8)
check.fails(text.replace("T.tensor_view(bins, T.load(v, k)", "T.tensor_view(counts, T.load(v, k)"), {"x": x}, "counts are u32 in shared memory")
# Without the first barrier some thread counts before another one has set the bin to 0.
check.fails(text.replace("            T.sync(block)\n", "", 1), {"x": np.arange(8192, dtype=np.uint8)}, "data race", ["--check=race"])
