# RUN: %python %s %tf-run %t
"""Reductions in a thread, in lane groups of all sizes, across warps, strided; against NumPy, exact on small integers."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(5)

SOURCE = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[({r}, {c}), "{dtype}"], y: Tensor[({r}, 1), "{dtype}"]) -> None:
    with Mesh((Topology("thread", {threads}),), Layout(shape=({a}, {b}), strides={strides}), ("a", "b")) as m:
        own = ShardLayout(layout=Layout(shape=({a}, {ra}, {b}, {cb}), strides=({ra} * {c}, {c}, {cb}, 1)), attrs=(Split(0), Split(2)), mesh=m)
        xr = T.alloc_tensor(TensorType(shape=({r}, {c}), dtype=DType.{dtype}, layout=own, storage=StorageKind.RMEM))
        yr = T.alloc_tensor(TensorType(shape=({r}, 1), dtype=DType.{dtype}, layout=T.reduced(own, ({r}, {c}), 1), storage=StorageKind.RMEM))
        T.copy(T.tensor_view(x, layout=own), xr)
        for i in range(2):
            T.reduce(xr, yr, axes=(1,), kind="{kind}")
        T.copy(yr, T.tensor_view(y, layout=T.reduced(own, ({r}, {c}), 1)))
"""
KINDS = {"sum": lambda x: x.sum(1), "max": lambda x: x.max(1), "min": lambda x: x.min(1), "abs_max": lambda x: np.abs(x).max(1),
         "mean": lambda x: x.mean(1)}
#        rows a, columns b: threads on each mesh axis; per thread ra rows and cb columns
SHAPES = [(1, 32, 1, 4), (4, 8, 1, 3), (8, 4, 2, 2), (2, 16, 3, 1), (4, 32, 1, 2), (1, 128, 2, 1), (2, 64, 1, 5), (5, 6, 1, 2),
          (1, 48, 1, 1), (10, 3, 1, 2), (3, 32, 2, 1)]
for n, (a, b, ra, cb) in enumerate(SHAPES):
    for transposed in (False, True):
        kind = list(KINDS)[(2 * n + transposed) % len(KINDS)]
        dtype = "f32" if kind == "mean" or n % 2 else "i32"
        x = rng.integers(-50, 50, (a * ra, b * cb)).astype(np.float32 if dtype == "f32" else np.int32)
        want = KINDS[kind](x.astype(np.float64))[:, None].astype(x.dtype)
        text = SOURCE.format(r=a * ra, c=b * cb, a=a, b=b, ra=ra, cb=cb, threads=a * b, kind=kind, dtype=dtype,
                             strides=f"(1, {a})" if transposed else f"({b}, 1)")
        check.run(text, {"x": x}, {"y": (want, 1e-6 if kind == "mean" else 0, 0)})
