# RUN: %python %s %tf-llc %t
"""Verification and lowering take time and memory in proportion to the statements: four times as many, not sixteen times as
much. The least of several runs counts, as the machine may be busy."""
import pathlib
import re
import resource
import subprocess
import sys

tool, path = sys.argv[1], pathlib.Path(sys.argv[2] + ".tir")
HEAD = """@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(128,), "f32"], y: Tensor[(128,), "f32"]):
    with Mesh((Topology("thread", 128),), Layout(shape=(128,)), ("t",)) as m:
        own = T.spread(m, (128,), 1)
        r = T.alloc_tensor(TensorType(shape=(128,), dtype="f32", layout=own, storage=rmem))
        T.copy(T.tensor_view(x, layout=own), r)
"""


def measure(statements):
    """Milliseconds of verification and lowering, and the largest memory of the tool so far in KiB."""
    kinds = ["add", "mul", "sub"]
    body = [f'        T.binary(r, {i}.5, r, kind="{kinds[i % 3]}")\n' for i in range(statements)]
    path.write_text(HEAD + "".join(body) + "        T.copy(r, T.tensor_view(y, layout=own))\n")
    best = float("inf")
    for _ in range(3):
        done = subprocess.run([tool, "-O0", "--time-passes", "--emit=llvm", str(path), "-o", "/dev/null"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        best = min(best, sum(float(t) for t in re.findall(r"^(?:verify|lower) +([\d.]+) ms", done.stderr, re.M)))
    return best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


few_time, few_memory = measure(2500)
many_time, many_memory = measure(10000)
if not 0 < many_time < 10 * few_time:
    sys.exit(f"{few_time} ms for 2500 statements, {many_time} ms for 10000")
if many_memory > 5 * few_memory:
    sys.exit(f"{few_memory} KiB for 2500 statements, {many_memory} KiB for 10000")
