# RUN: %python %s %tf-run %t
"""Pipelines of asynchronous copies with one fault each: a wait for too few groups, a stage overwritten while a slower warp still reads
it, no barrier behind the wait, none at the loop's back edge, groups that nobody waits for. The checkers of the simulated device name each of them, and find nothing in the pipeline that is
right."""
import subprocess
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
PIPELINE = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(9, 256), "f32"], y: Tensor[(9, 256), "f32"]):
    with Mesh((Topology("thread", 64),), Layout((64,)), ("t",)) as m:
        own = T.spread(m, (1, 256), 4)
        s = T.alloc_tensor(TensorType((3, 256), "f32", None, smem))
        for i in range(2):
            T.copy_async(T.tensor_view(x, i, 0, shape=(1, 256), layout=own), T.tensor_view(s, i, 0, shape=(1, 256), layout=own))
            T.cp_async_commit()
        for i in range(9):
            T.cp_async_wait({wait})
            {sync}
            j = i + {ahead}
            if j < 9:
                T.copy_async(T.tensor_view(x, j, 0, shape=(1, 256), layout=own), T.tensor_view(s, j % 3, 0, shape=(1, 256), layout=own))
            T.cp_async_commit()
            for e in range(T.coord(m.t), 256, 64):
                T.store(y, T.load(s, i % 3, 255 - e), i, e)
            {end}
"""


def text(wait=1, ahead=2, sync="T.sync(m)", end="pass"):
    return PIPELINE.format(wait=wait, ahead=ahead, sync=sync, end=end)


x = np.random.default_rng(97).integers(-99, 100, (9, 256)).astype(np.float32)
for seed in range(4):
    check.run(text(), {"x": x}, {"y": (x[:, ::-1], 0, 0)}, [f"--seed={seed}"] if seed else [])

FAULTS = {
    "a group too few waited for": (text(wait=2), "race"),
    "groups that nobody waits for": (text(wait=20), "never waited for"),
    "no barrier behind the wait": (text(sync="pass", end="T.sync(m)"), "race"),
    "the stage that is read is overwritten": (text(ahead=3), "race"),
    "nobody waits for the readers": (text(sync="pass"), "race"),
}
for name, (source, finding) in FAULTS.items():
    path = check._source(source)
    np.save(check.scratch / "x.npy", x)
    done = subprocess.run([sys.argv[1], "--device=sim", "--check=all", f"--arg=x=@{check.scratch}/x.npy", str(path)], capture_output=True, text=True)
    assert done.returncode == 1 and finding in done.stderr, f"{name}: exit {done.returncode}\n{done.stderr}"
    assert "kernel.tir:1" in done.stderr or "kernel.tir:2" in done.stderr, f"{name}: no line\n{done.stderr}"
