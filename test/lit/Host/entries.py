# RUN: %python %s %tf-run %t
"""Entries of .tir modules on the simulated device: derived ones, CPU functions with launches of given shapes, dispatch over
a dim with gaps, calls among CPU functions, aborts on both sides, -D, --dim, entries chosen by name."""
import subprocess
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(23)

ADD = '''\
from tilefoundry import *
S = DimVar("S", 1, 1024)
STEP = 1

@module(entry="main")
class m:
    @prim_func(target=CudaTarget("sm_80"))
    def add(x: Tensor[(S, 64), "f32"], a: Tensor[(), "f32"], y: Tensor[(S, 64), "f32"]):
        with Mesh((Topology("cta", S), Topology("thread", 64)), Layout(shape=(S, 64)), ("r", "t")) as m:
            lay = ShardLayout(layout=Layout(shape=(S, 64), strides=(64, 1)), attrs=(Split(0), Split(1)), mesh=m)
            r = T.alloc_tensor(TensorType(shape=(S, 64), dtype="f32", layout=lay, storage="rmem"))
            T.copy(T.tensor_view(x, layout=lay), r)
            T.binary(r, a, r, kind="add")
            T.binary(r, STEP, r, kind="mul")
            T.copy(r, T.tensor_view(y, layout=lay))

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(S, 64), "f32"], y: Tensor[(S, 64), "f32"], z: Tensor[(S, 64), "f32"]):
        launch(add, x, 1.5, y, grid=(S,), block=(32, 2))
        other(y, z)

    @prim_func(target=CpuTarget())
    def other(p: Tensor[(S, 64), "f32"], q: Tensor[(S, 64), "f32"]):
        launch(add, p, -0.25, q, grid=(1, S), block=(64,))
'''
for rows in (1, 37):
    x = rng.standard_normal((rows, 64), dtype=np.float32)
    y = x + np.float32(1.5)
    check.run(ADD, {"x": x}, {"y": (y, 0, 0), "z": (y - np.float32(0.25), 0, 0)})
    check.run(ADD, {"p": x}, {"q": (x - np.float32(0.25), 0, 0)}, ["--entry=other"])
    check.run(ADD, {"p": x}, {"q": ((x - np.float32(0.25)) * 3, 0, 0)}, ["--entry=other", "-DSTEP=3"])
    check.run(ADD, {"x": x, "a": 2}, {"y": (x + 2, 0, 0)}, ["--kernel=add"])
    check.run(ADD, {"x": x, "a": 2}, {"y": (x + 2, 0, 0)}, ["--kernel=add", f"--grid={rows}", "--block=1,64"])
check.run(ADD, {"p": "fill:2"}, {"q": (np.full((5, 64), 1.75, np.float32), 0, 0)}, ["--entry=other", "--dim=S=5"])
check.fails(ADD, {"x": x, "a": 2}, "the kernel needs 64 threads (64) in it", ["--kernel=add", "--grid=37", "--block=32"])
check.fails(ADD, {"x": x[:, :32]}, "argument 'x': axis 1 has extent 32, expected 64")
check.fails(ADD, {}, "'nobody' is no entry", ["--entry=nobody"])

DISPATCH = '''\
from tilefoundry import *
S = DimVar("S", 1, 1024)

@module(entry="main")
class m:
    @prim_func(target=CudaTarget("sm_80"))
    def small(x: Tensor[(S,), "f32"], y: Tensor[(S,), "f32"]):
        T.copy(x, y)

    @prim_func(target=CudaTarget("sm_80"))
    def big(x: Tensor[(S,), "f32"], y: Tensor[(S,), "f32"]):
        T.fill(y, 7.0)

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(S,), "f32"], y: Tensor[(S,), "f32"]):
        match T.dispatch("S", T.shape_of(x, 0)):
            case DimVarRangePat("S", 1, 16):
                small(x, y)
            case DimVarRangePat("S", 32, 64):
                big(x, y)
            case _:
                T.abort("no variant for this length")
'''
for length in (1, 15):
    x = rng.standard_normal(length).astype(np.float32)
    check.run(DISPATCH, {"x": x}, {"y": (x, 0, 0)})
for length in (32, 63):
    x = rng.standard_normal(length).astype(np.float32)
    check.run(DISPATCH, {"x": x}, {"y": (np.full(length, 7, np.float32), 0, 0)})
for length in (16, 20, 31, 64, 1000):
    check.fails(DISPATCH, {"x": np.zeros(length, np.float32)}, "kernel.tir:22:17: error: main: abort: no variant for this length")

ABORT = '''\
@prim_func(target=CudaTarget("sm_80"))
def k(n: Tensor[(), "i32"], y: Tensor[(32,), "f32"]):
    if n < 0:
        T.abort("n is negative")
    T.fill(y, 1.0)
'''
check.run(ABORT, {"n": 3}, {"y": (np.ones(32, np.float32), 0, 0)})
check.fails(ABORT, {"n": -3}, "kernel.tir:4: abort: n is negative")

# Remarks are said once although PTX and manifest are two emissions.
done = subprocess.run([check.tool, "--device=sim", "--dim=S=3", "--arg=x=zeros", str(check._source(DISPATCH))], capture_output=True, text=True)
assert done.returncode == 0 and done.stderr.count("remark:") == 1, done.stderr
