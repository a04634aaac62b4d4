# RUN: %python %s %tf-llc %t
"""The compiler takes processor time and memory in proportion to the statements: four times as many, not sixteen times as much.
The processor time of the process counts, which other load of the machine hardly changes, and the least of several runs."""
import os
import pathlib
import subprocess
import sys

tool, path = sys.argv[1], pathlib.Path(sys.argv[2] + ".tir")
HEAD = """@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(128,), "f32"], n: Tensor[(), "i32"], y: Tensor[(128,), "f32"]):
    with Mesh((Topology("thread", 128),), Layout(shape=(128,)), ("t",)) as m:
        own = T.spread(m, (128,), 1)
        r = T.alloc_tensor(TensorType(shape=(128,), dtype="f32", layout=own, storage=rmem))
        s = T.alloc_tensor(TensorType(shape=(128,), dtype="f32", storage=smem))
        T.copy(T.tensor_view(x, layout=own), r)
"""
# Arithmetic on registers; bindings; loops; a shared tile with its barriers (64 kinds of views repeat).
BODIES = {
    "arithmetic": lambda i: f'        T.binary(r, {i}.5, r, kind="{["add", "mul", "sub"][i % 3]}")\n',
    "bindings": lambda i: f"        v{i} = {'n' if i == 0 else f'v{i - 1}'} + {i % 7}\n",
    "control": lambda i: f"        if n > {i}:\n            T.binary(r, r, r, kind=\"add\")\n" if i % 2 == 0 else "",
    "shared": lambda i: ("        T.copy(r, T.tensor_view(s, layout=own))\n", "        T.sync(m)\n",
                         f"        T.copy(T.tensor_view(s, {i % 64}, shape=(1,)), T.tensor_view(y, {i % 64}, shape=(1,)))\n",
                         "        T.sync(m)\n")[i % 4],
}


def measure(kind, statements):
    """Seconds of processor time and KiB of memory of the tool."""
    path.write_text(HEAD + "".join(map(BODIES[kind], range(statements))) + "        T.copy(r, T.tensor_view(y, layout=own))\n")
    best = None
    for _ in range(2):
        with subprocess.Popen([tool, "-O0", "--emit=llvm", str(path), "-o", "/dev/null"], stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{kind}: exit {process.returncode}")
        now = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        best = now if best is None else tuple(map(min, best, now))
    return best


for kind in BODIES:
    few, many = measure(kind, 2500), measure(kind, 10000)
    if many[0] > 8 * few[0]:
        sys.exit(f"{kind}: {few[0]} s for 2500 statements, {many[0]} s for 10000")
    if many[1] > 5 * few[1]:
        sys.exit(f"{kind}: {few[1]} KiB for 2500 statements, {many[1]} KiB for 10000")
