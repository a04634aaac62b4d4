# RUN: %python %s %tf-llc %tf-run %t
"""Wide accesses to addresses that are aligned for narrow ones only: a view from element 1 on, odd row pitches, shared tensors that lie
behind a short one; accesses of 32 bytes on targets that have none; cp.async of 2 bytes. The simulated device stops at the first
misaligned access, as a GPU does."""
import itertools
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import tfcheck

llc = sys.argv[1]
check = tfcheck.Check(sys.argv[1:])
rng = np.random.default_rng(89)
NUMPY = {"f32": np.float32, "f16": np.float16, "u8": np.uint8, "f64": np.float64}
WINDOWS = """
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i32"], x: Tensor[(9, {pitch}), "{dtype}"], y: Tensor[(9, {pitch}), "{dtype}"], z: Tensor[(8, 32), "{dtype}"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        own = T.spread(m, (8, 32), {vec})
        odd = T.alloc_tensor(TensorType((3,), "u8", None, smem))
        tile = T.alloc_tensor(TensorType((8, 32), "{dtype}", None, smem))
        T.fill(odd, 1)
        T.copy(T.tensor_view(x, 0, {start}, shape=(8, 32), layout=own), T.tensor_view(y, 1, {start}, shape=(8, 32), layout=own))
        T.copy(T.tensor_view(x, 1, n, shape=(8, 32), layout=own), T.tensor_view(tile, layout=own))
        T.sync(m)
        T.store(T.tensor_view(y, 0, 0, shape=({pitch},)), T.cast(T.load(odd, 2), "{dtype}"), 0)
        T.copy(T.tensor_view(tile, layout=own), T.tensor_view(z, layout=own))
"""
for dtype, vec, (pitch, start) in itertools.product(NUMPY, (1, 4, 8), ((40, 0), (40, 1), (40, 2), (37, 0), (37, 4), (44, 8))):
    if dtype in ("f16", "f64") and vec == 1:
        continue
    x = rng.integers(0, 100, (9, pitch)).astype(NUMPY[dtype])
    y = np.zeros((9, pitch), NUMPY[dtype])
    want = y.copy()
    want[1:, start:start + 32] = x[:8, start:start + 32]
    want[0, 0] = 1
    check.run(WINDOWS.format(dtype=dtype, vec=vec, pitch=pitch, start=start), {"n": start, "x": x, "y": y},
              {"y": (want, 0, 0), "z": (x[1:, start:start + 32], 0, 0)})

# 32 bytes that a thread has in a row are two accesses of 16 up to sm_90.
WIDE = """
@prim_func(target=CudaTarget("{target}"))
def k(x: ConstTensor[(1024,), "f64"], y: Tensor[(1024,), "f64"]):
    with Mesh((Topology("thread", 128),), Layout((128,)), ("t",)) as m:
        own = T.spread(m, (1024,), 8)
        r = T.alloc_tensor(TensorType((1024,), "f64", own, rmem))
        T.copy(T.tensor_view(x, layout=own), r)
        T.copy(r, T.tensor_view(y, layout=own))
"""
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
source, ptx = check.scratch / "wide.tir", check.scratch / "wide.ptx"
for target in ("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120"):
    source.write_text(WIDE.format(target=target))
    subprocess.run([llc, source, "-o", ptx], check=True)
    text = ptx.read_text()
    assert int(target[3:].rstrip("a")) >= 100 or not any(wide in text for wide in (".v4.b64", ".v4.f64", ".v4.u64", ".v8.")), text
    if ptxas:
        subprocess.run([ptxas, f"-arch={target}", ptx, "-o", check.scratch / "wide.cubin"], check=True)
x = rng.standard_normal(1024)
check.run(WIDE.format(target="sm_80"), {"x": x}, {"y": (x, 0, 0)})

# Two bytes are no width of cp.async: an ordinary copy does it.
NARROW = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(32, 3), "f16"], y: Tensor[(32,), "f16"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        s = T.alloc_tensor(TensorType((32,), "f16", None, smem))
        own = T.spread(m, (32,), 1)
        T.copy_async(T.tensor_view(T.tensor_view(x, 0, 1, shape=(32, 1)), shape=(32,), layout=own), T.tensor_view(s, layout=own))
        T.cp_async_commit()
        T.cp_async_wait(0)
        T.sync(m)
        T.copy(T.tensor_view(s, layout=own), T.tensor_view(y, layout=own))
"""
source.write_text(NARROW)
subprocess.run([llc, source, "-o", ptx], check=True, stderr=subprocess.DEVNULL)
assert "cp.async.ca" not in ptx.read_text() and "cp.async.cg" not in ptx.read_text()
x = rng.standard_normal((32, 3)).astype(np.float16)
check.run(NARROW, {"x": x}, {"y": (x[:, 1], 0, 0)})
