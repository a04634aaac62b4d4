# RUN: %python %s %tf-run %tf-llc %t %kernels
"""The same source gives the same bytes: PTX, LLVM IR and manifest of every kernel from two processes, from another folder with
another environment, and the results of two runs, bit for bit."""
import os
import pathlib
import subprocess
import sys

run, llc, scratch, kernels = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
scratch.mkdir(parents=True, exist_ok=True)


def output(command, **more):
    return subprocess.run(command, check=True, capture_output=True, **more).stdout


sources = sorted(kernels.glob("*.tir"))
assert len(sources) >= 10, sources
for source in sources:
    for kind in ("ptx", "llvm", "manifest"):
        first = output([llc, f"--emit={kind}", "-o", "-", str(source)])
        # Other addresses for everything: a larger environment moves the stack; the options stand elsewhere.
        second = output([llc, str(source), "-o-", f"--emit={kind}"], cwd=scratch, env=dict(os.environ, PADDING="x" * 5000))
        assert first and first == second, f"{source.name}: two processes emit different {kind}"

SUMS = """from tilefoundry import *

@prim_func(target=CudaTarget("sm_80"))
def sums(x: Tensor[(3, 4096), "f32"], y: Tensor[(3,), "f32"]) -> None:
    with Mesh((Topology("cta", 3),), Layout(shape=(3,)), ("c",)) as grid:
        with Mesh((Topology("thread", 256),), Layout(shape=(256,)), ("t",)) as m:
            own = T.spread(m, (4096,), 4)
            r = T.alloc_tensor(TensorType(shape=(1,), dtype=DType.f32, layout=T.reduced(own, (4096,), 0), storage=rmem))
            T.reduce(T.tensor_view(x, T.coord(grid.c), 0, shape=(4096,), layout=own), r, axes=(0,), kind="sum")
            T.copy(r, T.tensor_view(y, T.coord(grid.c), shape=(1,)))
"""
(scratch / "sums.tir").write_text(SUMS)
results = set()
# Sums of random values differ in their last bits with the order of addition: no order of threads may change it.
for i, options in enumerate(([], [], ["--seed=1"], ["--seed=2"])):
    output([run, *options, "--arg=x=random:9", f"--out=y={scratch / f'y{i}.npy'}", str(scratch / "sums.tir")])
    results.add((scratch / f"y{i}.npy").read_bytes())
assert len(results) == 1, "runs give different sums"
