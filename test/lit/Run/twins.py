# REQUIRES: nvcc
# RUN: %python %s %tf-run %t %nvcc
"""The hand-written CUDA C++ twin of the matrix product, compiled by nvcc, gives the same bytes on the same device."""
import pathlib
import subprocess
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
nvcc, tool, scratch = sys.argv[3], sys.argv[1], check.scratch
twins = check.kernels.parent / "bench" / "twins"
rng = np.random.default_rng(31)
a, b = (tfcheck.bf16(rng.standard_normal(shape)) for shape in ((128, 256), (256, 128)))
exact = a.astype(np.float64) @ b.astype(np.float64)
ours = check.run("matmul.tir", {"a": a, "b": b}, {"c": (exact, 1e-2, 1e-3)})["c"]

subprocess.run([nvcc, "-ptx", "-arch=sm_80", "-O3", "-o", scratch / "matmul.ptx", twins / "matmul.cu"], check=True,
               capture_output=True)
for index, array in enumerate((a, b)):
    np.save(scratch / f"bits{index}.npy", (array.view(np.uint32) >> 16).astype(np.uint16))
subprocess.run([tool, "--check=all", "--kernel=matmul", "--grid=4", "--block=128", f"--arg=0=@{scratch}/bits0.npy",
                f"--arg=1=@{scratch}/bits1.npy", "--type=2=f32[128,128]", f"--out=2={scratch}/twin.npy",
                scratch / "matmul.ptx"], check=True)
theirs = np.load(scratch / "twin.npy")
assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32)), np.abs(ours - theirs).max()
