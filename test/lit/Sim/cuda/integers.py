# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
"""Every result by Python's exact integers."""
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)
rng = np.random.default_rng(27)
n = 120
M32, M64 = 2**32, 2**64


def signed(value, bits):
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def parts(value, bits, is_signed):
    count = 32 // bits
    return [signed(value >> (bits * k), bits) if is_signed else (value >> (bits * k)) % (1 << bits) for k in range(count)]


def rows(*functions, dtype):
    return lambda a, b: np.array([[f(int(x), int(y)) for x, y in zip(a, b)] for f in functions], dtype)


a, b = rng.integers(-2**31, 2**31, (2, n)).astype(np.int32)
want = rows(lambda x, y: signed(7 + sum(p * q for p, q in zip(parts(x, 8, True), parts(y, 8, True))), 32),
            lambda x, y: signed(9 + sum(p * q for p, q in zip(parts(x, 8, False), parts(y, 8, False))), 32),
            lambda x, y: signed(-3 + sum(p * q for p, q in zip(parts(x, 16, True), parts(y, 8, True)[:2])), 32), dtype=np.int32)(a, b)
check.run("dots", 1, 128, [a, b, cudacheck.poison(want.shape, np.int32), n], {2: (want, 0, 0)})

a = rng.integers(-2**63, 2**63, n) >> rng.integers(0, 60, n)
b = rng.integers(-2**63, 2**63, n) >> rng.integers(0, 60, n)
b[b == 0] = 3


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


want = rows(lambda x, y: x * y >> 64, lambda x, y: signed(truncated(x, y), 64), lambda x, y: x - truncated(x, y) * y,
            lambda x, y: signed((x % M64) // ((y % M64) | 1), 64),
            lambda x, y: bin(x % M64).count("1") + 100 * (64 - (y % M64).bit_length()) + 10000 * ((x & -x) % M64).bit_length(),
            dtype=np.int64)(a, b)
check.run("wide", 1, 128, [a, b, cudacheck.poison(want.shape, np.int64), n], {2: (want, 0, 0)})

a, b = rng.integers(0, 2**32, (2, n), np.uint32)


def permuted(x, y, selector):
    bytes_ = (x | y << 32).to_bytes(8, "little")
    return sum(bytes_[(selector >> (4 * k)) & 7] << (8 * k) for k in range(4))


want = rows(lambda x, y: int(f"{x:032b}"[::-1], 2), lambda x, y: permuted(x, y, 0x5216),
            lambda x, y: ((y << 32 | x) << 11 >> 32) % M32, lambda x, y: ((y << 32 | x) >> (y & 31)) % M32,
            lambda x, y: (x & y) ^ (~x % M32 | y >> 3), lambda x, y: (abs(signed(x, 32) - signed(y, 32)) + 5) % M32,
            lambda x, y: x * y >> 32,
            lambda x, y: (x // (y | 1) + signed(x, 32) - truncated(signed(x, 32), 1000) * 1000) % M32,
            lambda x, y: sum(((x >> s) + (y >> s)) % 256 << s for s in (0, 8, 16, 24)), lambda x, y: (x + y) >> 1,
            dtype=np.uint32)(a, b)
check.run("bits", 1, 128, [a, b, cudacheck.poison(want.shape, np.uint32), n], {2: (want, 0, 0)})
