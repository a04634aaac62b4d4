# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
from fractions import Fraction
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(34)
rhs, x = rng.standard_normal(200), np.zeros(202)
for _ in range(40):
    x[1:-1] = (rhs + x[:-2] + x[2:]) / 4.0
check.run("solve", 1, 224, [rhs, cudacheck.poison(200, np.float64), 200, 40], {1: (x[1:-1], 0, 0)})


def rounded(exact, mode):
    """The double next to an exact fraction: nearest is Python's own; others step from it."""
    near = exact.numerator / exact.denominator
    if mode == "rd" and Fraction(near) > exact:
        return np.nextafter(near, -np.inf)
    if mode == "ru" and Fraction(near) < exact:
        return np.nextafter(near, np.inf)
    if mode == "rz" and abs(Fraction(near)) > abs(exact):
        return np.nextafter(near, 0)
    return near


a, b = rng.standard_normal((2, 100)) * 37.5
f = [(Fraction(float(p)), Fraction(float(q))) for p, q in zip(a, b)]
single = a.astype(np.float32)
want = np.array([[rounded(p * q + Fraction(1 / 3), "rn") for p, q in f], [rounded(p + q, "rz") for p, q in f],
                 [rounded(p * q, "ru") for p, q in f], [rounded(p / q, "rd") for p, q in f], np.sqrt(np.abs(a)),
                 np.where(single > a, np.nextafter(single, np.float32(-np.inf)), single), np.ceil(a)])
check.run("round_modes", 1, 128, [a, b, cudacheck.poison(want.shape, np.float64), 100], {2: (want, 0, 0)})
