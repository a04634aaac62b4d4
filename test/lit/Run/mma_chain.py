# RUN: %python %s %tf-run %t
"""Products of products: an accumulator that is cast and fed back as an operand without leaving the registers; arrays of fragments
picked by a loop whose length is known at run time."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(47)

CHAIN = """from tilefoundry import *
atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN)
first = T.cuda.mma.tile(atom, (64, 32, 48), (4, 1))
second = T.cuda.mma.tile(atom, (64, 16, 32), (4, 1))

@prim_func(target=CudaTarget("sm_80"))
def chain(a: Tensor[(64, 48), "bf16"], b: Tensor[(48, 32), "bf16"], d: Tensor[(32, 16), "bf16"], c: Tensor[(64, 16), "f32"]) -> None:
    with first.required_scope as block:
        at = T.alloc_tensor(TensorType(shape=(64, 48), dtype="bf16", storage=smem))
        bt = T.alloc_tensor(TensorType(shape=(48, 32), dtype="bf16", storage=smem))
        dt = T.alloc_tensor(TensorType(shape=(32, 16), dtype="bf16", storage=smem))
        acc = T.alloc_tensor(TensorType(shape=(64, 32), dtype="f32", layout=first.C, storage=rmem))
        p = T.alloc_tensor(TensorType(shape=(64, 32), dtype="bf16", layout=second.A, storage=rmem))
        out = T.alloc_tensor(TensorType(shape=(64, 16), dtype="f32", layout=second.C, storage=rmem))
        T.copy(a, at)
        T.copy(b, bt)
        T.copy(d, dt)
        T.fill(acc, 0.0)
        T.fill(out, 0.0)
        T.sync(block)
        T.mma(acc, at, bt, atom=first)
        T.relu(acc, acc)
        T.unary(acc, p, kind="cast")
        T.mma(out, p, dt, atom=second)
        T.copy(out, c)
"""
for _ in range(3):
    a = rng.integers(-2, 3, (64, 48)).astype(np.float32)
    b = rng.integers(-1, 2, (48, 32)).astype(np.float32)
    d = rng.integers(-5, 6, (32, 16)).astype(np.float32)
    check.run(CHAIN, {"a": a, "b": b, "d": d}, {"c": (np.maximum(a @ b, 0) @ d, 0, 0)})

# Which fragment is used is known at run time only: legal, if slow.
PICKED = """from tilefoundry import *
atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32F16F16F32_TN)

@prim_func(target=CudaTarget("sm_80"))
def picked(n: Tensor[(), "i32"], a: Tensor[(3, 16, 16), "f16"], b: Tensor[(16, 8), "f16"], c: Tensor[(16, 8), "f32"]) -> None:
    with Mesh((Topology("thread", 32),), Layout(shape=(4, 8), strides=(1, 4))) as lanes:
        x = T.alloc_tensor(TensorType(shape=(3, 16, 16), dtype="f16", layout=T.cuda.mma.stack(atom.A, (3,)), storage=rmem))
        y = T.alloc_tensor(TensorType(shape=(16, 8), dtype="f16", layout=atom.B, storage=rmem))
        acc = T.alloc_tensor(TensorType(shape=(16, 8), dtype="f32", layout=atom.C, storage=rmem))
        T.copy(b, y)
        for i in range(3):
            T.copy(T.tensor_view(a, i, 0, 0, shape=(16, 16)), T.tensor_view(x, i, 0, 0, shape=(16, 16)))
        T.fill(acc, 0.0)
        for i in range(n):
            T.mma(acc, T.tensor_view(x, i, 0, 0, shape=(16, 16)), y, atom=atom)
        T.copy(acc, c)
"""
for n in range(4):
    a = rng.integers(-7, 8, (3, 16, 16)).astype(np.float16)
    b = rng.integers(-7, 8, (16, 8)).astype(np.float16)
    want = (a[:n].astype(np.float64).sum(axis=0) @ b.astype(np.float64)).astype(np.float32)
    check.run(PICKED, {"n": n, "a": a, "b": b}, {"c": (want, 0, 0)})
