# RUN: %python %s %tf-run %t
"""A producer warp and two groups of consumers over named barriers, under several schedules, down to fewer rows than stages."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(65)
for pairs in (1, 2, 3, 8):
    x = rng.integers(-20, 21, (2 * pairs, 512)).astype(np.float32)
    want = {"even": ((x[0::2] ** 2).sum(axis=0), 0, 0), "odd": (np.abs(x[1::2]).max(axis=0), 0, 0)}
    for seed in range(4):
        check.run("producer_consumer.tir", {"x": x}, want, [f"--seed={seed}"] if seed else [])
