# RUN: %python %s %tf-llc %tf-run %t
"""Kernels whose names PTX cannot spell, reserves, or knows as something else: each is assembled and found again by its source name.
Parameters called like PTX words, like the kernel, or like a hidden shape."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np

llc, run, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
NAMES = ["größe", "数", "WARP_SZ", "_", "_1", "reg", "entry", "ld", "tid", "sin", "memset", "main", "b32", "target", "param0",
         "tf_grid_barrier"]
text = 'S = DimVar("S", 1, 100)\n'
for i, name in enumerate(NAMES):
    other = "param" if name != "param" else "x"
    text += f"""
@prim_func(target=CudaTarget("sm_80"))
def {name}({other}: Tensor[(S,), "f32"], {name}_shape_0: Tensor[(), "f32"], y: Tensor[(S,), "f32"]):
    with Mesh((Topology("thread", 1),), Layout((1,)), ("t",)) as m:
        T.binary({other}, {name}_shape_0, y, kind="add")
        T.binary(y, {i}, y, kind="add")
"""
source, ptx = scratch / "names.tir", scratch / "names.ptx"
source.write_text(text)
subprocess.run([llc, source, "-o", ptx], check=True)
if ptxas:
    subprocess.run([ptxas, "-arch=sm_80", ptx, "-o", scratch / "names.cubin"], check=True)
x = np.random.default_rng(3).integers(-99, 99, 7).astype(np.float32)
np.save(scratch / "x.npy", x)
for i, name in enumerate(NAMES):
    subprocess.run([run, "--device=sim", "--check=all", f"--kernel={name}", "--grid=1", "--block=1", f"--arg=param=@{scratch}/x.npy",
                    f"--arg={name}_shape_0=2", f"--out=y={scratch}/y.npy", source], check=True)
    assert (np.load(scratch / "y.npy") == x + 2 + i).all(), name
