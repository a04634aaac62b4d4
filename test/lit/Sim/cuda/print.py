# REQUIRES: nvcc
# RUN: %python %s %nvcc %tf-run %t
import sys
import cudacheck

check = cudacheck.Check(sys.argv)
text = "".join("thread %d of %u: %5.2f %s %c %d %x%%\n" % (i, 3, 1.25 * i, "text", "a"[0] if i == 0 else "abc"[i], 1 << (40 + i), 255 - i) for i in range(3))
check.run("hello", 1, 3, [3, 1.25], {}, stdout=text)
