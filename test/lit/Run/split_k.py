# RUN: %python %s %tf-run %t
"""K shared by four CTAs, joined by the grid barrier: exact on integers, the same bits whatever the order of CTAs, launched twice."""
import subprocess
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(64)
for m, n, k in ((1, 1, 1), (2, 1, 2), (1, 3, 5)):
    a = rng.integers(-7, 8, (64 * m, 128 * k)).astype(np.float32)
    b = rng.integers(-7, 8, (128 * k, 64 * n)).astype(np.float32)
    for options in ([], ["--seed=1"], ["--repeat=2"]):
        check.run("split_k.tir", {"a": a, "b": b}, {"c": (a @ b, 0, 0)}, options)

a, b = tfcheck.bf16(rng.standard_normal((64, 256))), tfcheck.bf16(rng.standard_normal((256, 64)))
exact = a.astype(np.float64) @ b.astype(np.float64)
bits = {check.run("split_k.tir", {"a": a, "b": b}, {"c": (exact, 1e-3, 1e-3)}, options)["c"].tobytes() for options in ([], ["--seed=1"], ["--seed=2"])}
assert len(bits) == 1

# The barrier needs all CTAs at once: a launch that cannot have them is refused, with nothing done.
done = subprocess.run([sys.argv[1], "--dim=M=64", "--dim=N=64", "--dim=K=1", str(check.kernels / "split_k.tir")], capture_output=True, text=True)
assert done.returncode == 1 and "split_k" in done.stderr, done
