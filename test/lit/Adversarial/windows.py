# RUN: %python %s %tf-llc %tf-run %t
"""A window whose first element lies inside of its tensor and whose last row does not; tails of 17 rows in tiles of 16, of a tile less
one and a tile plus one along both axes; nothing around the tensor may be touched."""
import subprocess
import sys

import numpy as np
import tfcheck

llc = sys.argv[1]
check = tfcheck.Check(sys.argv[1:])
rng = np.random.default_rng(101)
ROWS = '''\
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i32"], x: Tensor[(64, 32), "f32"], y: Tensor[(8, 32), "f32"]):
    with Mesh((Topology("thread", 32),), Layout((32,)), ("t",)) as m:
        own = T.spread(m, (8, 32), 4)
        T.copy(T.tensor_view(x, n, 0, shape=(8, 32), layout=own), T.tensor_view(y, layout=own))
'''
x = rng.standard_normal((64, 32)).astype(np.float32)
for row in (0, 56):
    check.run(ROWS, {"n": row, "x": x}, {"y": (x[row:row + 8], 0, 0)})
for row in (57, 63, -1, -7):  # the first row is inside, or the last one is
    check.fails(ROWS, {"n": row, "x": x}, "kernel.tir:5", ["--check=mem"])

# The check in the code itself: it traps, without any checker.
source, ptx, manifest = check.scratch / "rows.tir", check.scratch / "rows.ptx", check.scratch / "rows.json"
source.write_text(ROWS)
subprocess.run([llc, "-fcheck=bounds", source, "-o", ptx], check=True)
subprocess.run([llc, "-fcheck=bounds", source, "--emit=manifest", "-o", manifest], check=True)
check.run(str(ptx), {"n": 56, "x": x}, {"y": (x[56:], 0, 0)}, [f"--manifest={manifest}"])
for row in (57, -1):
    check.fails(str(ptx), {"n": row, "x": x}, "trap", [f"--manifest={manifest}"])

TAILS = """
M = DimVar("M", 1, 4096)
N = DimVar("N", 1, 4096)


@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(M, N), "f32"], y: Tensor[(N, M), "f32"], s: Tensor[(M, 1), "f32"]):
    with Mesh((Topology("cta", ceildiv(M, 16)),), Layout((ceildiv(M, 16),)), ("c",)) as g:
        with Mesh((Topology("thread", 64),), Layout((16, 4)), ("r", "c")) as m:
            own = ShardLayout(Layout((16, 4, 4)), (Split(0), Split({axis})), m)
            back = T.spread(m, (16, 16), 1)
            each = T.reduced(own, (16, 16), 1)
            tile = T.alloc_tensor(TensorType((16, 16), "f32", None, smem))
            r = T.alloc_tensor(TensorType((16, 16), "f32", own, rmem))
            total = T.alloc_tensor(TensorType((16, 1), "f32", each, rmem))
            part = T.alloc_tensor(TensorType((16, 1), "f32", each, rmem))
            row = T.coord(g.c) * 16
            T.fill(total, 0.0)
            for col in range(0, N, 16):
                T.copy(T.tensor_view(x, row, col, shape=(16, 16), layout=own, clip=0.0), r)
                T.reduce(r, part, axes=(1,), kind="sum")
                T.binary(total, part, total, kind="add")
                T.copy(r, T.tensor_view(tile, layout=own))
                T.sync(m)
                T.copy(T.tensor_view(T.tensor_view(tile, layout=Layout((16, 16), (1, 16))), layout=back), T.tensor_view(y, col, row, shape=(16, 16), layout=back, clip=0.0))
                T.sync(m)
            T.copy(total, T.tensor_view(s, row, 0, shape=(16, 1), clip=0.0))
"""
for axis in (1, 2):  # four neighbouring elements a thread, or every fourth one
    for rows, columns in ((17, 16), (15, 17), (16, 15), (1, 33), (33, 1), (31, 47), (48, 48)):
        x = rng.integers(-99, 100, (rows, columns)).astype(np.float32)
        check.run(TAILS.format(axis=axis), {"x": x}, {"y": (x.T, 0, 0), "s": (x.sum(axis=1, keepdims=True), 0, 0)})
