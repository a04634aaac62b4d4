# RUN: %python %s %tf-run %tf-llc %t
"""Threads that hold other elements in registers than they see of the destination store what is both: row blocks against column
blocks, in accesses as wide as both sides allow."""
import re
import subprocess
import sys

import numpy as np

import tfcheck

check = tfcheck.Check([sys.argv[0], sys.argv[1], sys.argv[3]])
KERNEL = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(16, 64), "{dtype}"], y: Tensor[(16, 64), "{dtype}"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(4, 8)), ("r", "c")) as m:
        rows = ShardLayout(layout=Layout((4, 4, 64)), attrs=(Split(0), Broadcast()), mesh=m)
        columns = ShardLayout(layout=Layout({columns}), attrs=(Broadcast(), Split({axis})), mesh=m)
        v = T.alloc_tensor(TensorType((16, 64), "{dtype}", rows, rmem))
        T.copy(T.tensor_view(x, layout=rows), v)
        T.unary(v, v, kind="neg")
        T.copy(v, T.tensor_view(y, layout=columns))
"""
rng = np.random.default_rng(11)
for dtype, numpy, columns, axis, store in (("f32", np.float32, "(16, 8, 8)", 1, r"st\.global\.v4\.b32"), ("f16", np.float16, "(16, 8, 8)", 1, r"st\.global\.v4\.b32"),
                                           ("f32", np.float32, "(16, 4, 8, 2)", 2, r"st\.global\.v2\.b32"), ("f64", np.float64, "(16, 8, 8)", 1, r"st\.global\.v2\.b64")):
    text = KERNEL.format(dtype=dtype, columns=columns, axis=axis)
    x = rng.standard_normal((16, 64)).astype(numpy)
    check.run(text, {"x": x}, {"y": (-x, 0, 0)})
    path = check.scratch / "overlap.tir"
    path.write_text(text)
    ptx = subprocess.run([sys.argv[2], str(path)], capture_output=True, text=True, check=True).stdout
    stores = set(re.findall(r"st\.global\S*", ptx))
    if not stores or any(not re.fullmatch(store, s) for s in stores):
        sys.exit(f"{dtype} {columns}: {stores}, wanted {store}")
