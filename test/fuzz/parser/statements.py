"""A docstring."""
import numpy as np, tilefoundry.ir.tir as tir
from tilefoundry import *
from tilefoundry import T, Mesh as M
from tilefoundry.types import (Layout, Topology as Top,
                               Swizzle,)
from . import local
from ..package.module import name as other

N = 128
S = DimVar("S", 1, 65536)

@intrinsic(ptx="prefetch.global.L2 [{x}];")
def prefetch(x: Expr, n: Expr) -> None:
    """What it does."""
    assert x.dtype == DType.f32 and len(x.shape) == 2, "a matrix of f32"
    assert n in (1, 2, 4), "n"
    pass

@tf.prim_func
def plain(): pass

@prim_func(target=CudaTarget("sm_90a"), output_count=2)
def kernel(x: Tensor[(S, N), "f32"], y: ConstTensor[(16 @ m.a, 64 @ (m.a, m.b)), DType.bf16, None, smem], z: Tensor[(), "i32"]) -> None:
    with Mesh((Topology("cta", S),), Layout((S,))) as g:
        for i in range(0, N, 4):
            while T.load(x, i, 0) < 3.0 and not (i == 2): T.fill(x, 0.0); pass
            if a:
                return
            elif b: pass
            elif c:
                pass
            else: T.abort("no")
        if x: pass
    copy_(a, b, loc="here")
    T.copy(a) if False else None if b else c
    match T.dispatch("kernel", T.shape_of(x, 0)):
        case DimVarRangePat("S", 1, 16):
            small(x, y)
        case DimVarRangePat(name="S", lo=16, hi=N): large(x, y)
        case _:
            T.abort("no variant")
    x.y.z(1)(2)[3].w
    return None

@module(entry="main")
class Kernels:
    "text"
    K = 3
    @prim_func(target=CpuTarget())
    def main(x: Tensor[(S,), "f32"]):
        launch(k, x, grid=(S, 1), block=128, cluster=None, attrs=LaunchAttrs())

@module
class Empty(): pass
def scopes():
    with a as (b):
        pass
    with (a) as b, (c).d[0] as (((e))):
        x = 1
    with (
        a as b,  # one
        (c) as d,
        e((1, 2)) as f,
    ):
        with (a as b): pass
        with (a)(b) as c: pass
        with (a, b)[0] as c: pass
    for (i) in range(3):
        pass
