# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import ctypes
import sys
import numpy as np
import cudacheck

check = cudacheck.Check(sys.argv)


def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


def hanoi(n, a, b, c, moves):
    if n == 0:
        return moves
    moves = ctypes.c_int32(hanoi(n - 1, a, c, b, moves) * 3 + a - b).value
    return hanoi(n - 1, c, b, a, moves)


def remainder(x, y):
    return abs(x) % y * (1 if x >= 0 else -1)


want = np.array([ackermann(t % 3, t % 5) * 100000 + remainder(hanoi(t % 7, 0, 2, 1, 0), 1000) for t in range(40)], np.int32)
check.run("recurse", 1, 40, [cudacheck.poison(40, np.int32)], {0: (want, 0, 0)})
