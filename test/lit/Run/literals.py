# RUN: %python %s %tf-run %t
"""Integer literals that the elements beside them do not hold: 300 beside u8, -1 beside u32. The statement computes in a type that holds
both, so comparisons, minima and bounds mean what they say; only what is stored wraps."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
KERNEL = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(32,), "{0}"], less: Tensor[(32,), "bool"], sum: Tensor[(32,), "i32"], least: Tensor[(32,), "{0}"], bounded: Tensor[(32,), "{0}"], product: Tensor[(32,), "i64"], held: Tensor[(32,), "i64"]):
    with Mesh((Topology("thread", 1),), Layout((1,)), ("t",)) as m:
        T.binary(x, {1}, less, kind="lt")
        T.binary(x, {1}, sum, kind="add")
        T.binary(x, {1}, least, kind="min")
        T.clamp(x, bounded, min_val=-{1}, max_val={1})
        T.binary({1}, x, product, kind="mul")
        T.clamp(x, held, min_val=5, max_val={1})
"""
for dtype, real, literal in (("u8", np.uint8, 300), ("i8", np.int8, 200), ("i8", np.int8, -129), ("u32", np.uint32, -1), ("u8", np.uint8, 255), ("i16", np.int16, 40000), ("i32", np.int32, 2**31)):
    x = np.arange(-16, 16).astype(real)
    wide = x.astype(np.int64)
    bounded = np.minimum(np.maximum(wide, -literal), literal).astype(real)
    check.run(KERNEL.format(dtype, literal), {"x": x},
              {"less": (wide < literal, 0, 0), "sum": ((wide + literal).astype(np.int32), 0, 0), "least": (np.minimum(wide, literal).astype(real), 0, 0),
               "bounded": (bounded, 0, 0), "product": (wide * literal, 0, 0), "held": (np.minimum(np.maximum(wide, 5), literal), 0, 0)})
