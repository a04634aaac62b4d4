# RUN: %python %s %tf-run %t
"""A window that leaves its tensor at run time is found by the mem checker, at the line of the source."""
import sys
import numpy as np
import tfcheck

SOURCE = '''\
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i32"], x: Tensor[(64, 32), "f32"], y: Tensor[(32,), "f32"]):
    with Mesh((Topology("thread", 32),), Layout(shape=(32,), strides=(1,)), ("t",)) as m:
        lay = ShardLayout(layout=Layout(shape=(1, 32), strides=(32, 1)), attrs=(Split(1),), mesh=m)
        row = T.alloc_tensor(TensorType(shape=(1, 32), dtype=DType.f32, layout=lay, storage=StorageKind.RMEM))
        T.copy(T.tensor_view(x, n, 0, shape=(1, 32), layout=lay), row)
        T.copy(row, T.tensor_view(y, layout=lay, shape=(1, 32)))
'''

check = tfcheck.Check(sys.argv)
x = np.random.default_rng(5).standard_normal((64, 32), dtype=np.float32)
check.run(SOURCE, {"n": 63, "x": x}, {"y": (x[63], 0, 0)})
for row in (64, -1, 1 << 20):
    check.fails(SOURCE, {"n": row, "x": x}, "kernel.tir:6", ["--check=mem"])
