from tilefoundry import *
from tilefoundry.ir.tir import (DimVarRangePat, DimVarRangePat as Between)

S = DimVar(name="S", lo=1, hi=513)


# Two decorators' worth of comments
# stand here.
@intrinsic( ptx = "prefetch.global.L2 [{a}];" )
def prefetch ( a : Expr , ) -> None :
	# a tab indents this block
	assert ( len(a.shape) == 1 and a.dtype in (DType.f32, DType.bf16) ) , ( "a vector of "
		"f32 or bf16" )
	assert not a.storage == StorageKind.SMEM or False, 'not in "shared" memory'

@intrinsic
def checked(a: Expr, low: Expr, high: Expr) -> None: assert low < high, "low < high"; assert a.shape[0] >= 1, "not empty"

@prim_func(target=CudaTarget("sm_90a"))
def small(x: Tensor[(S,), "f32"]):
 if T.program_id("thread") == 0 and T.program_id("cta") == 0: prefetch(x); return
 pass

@prim_func(target=CudaTarget("sm_90a"))
def large(x: Tensor[(S,), "f32"],
          ):
        i = T.program_id("thread")
        checked(x, 1, 2)
        while i < S and not (i % 7 == 6 or i < 0):
          if i == 0:
                    T.store(x, 0.5, i)
          elif i == 1: T.store(x, 1, i)
          elif i < 5 < S:
            if T.load(x, i) != 0.0 : T.store(x, -T.load(x, i), i)
            else : T.store(x, abs(T.load(x, i)) if i % 2 == 1 else min(T.load(x, i), 3.0, 4), i)
          else:

            # only a comment, then nothing


            pass
          return

@prim_func(
    target = CpuTarget() , output_count = 0
)
def match(case: Tensor[(S,), "f32"]):
    match T.dispatch("match", T.shape_of(case, 0)):
        case DimVarRangePat("S", 1, 0x10): small(case)

        case (Between("S",
                      16, 513)):
            # a comment
            large(case)
        case _: T.abort("no variant: " "S is out of range")
