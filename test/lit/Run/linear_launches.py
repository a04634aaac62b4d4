# RUN: %python %s %tf-run %tf-llc %t
"""-flaunch=linear: ids of one axis, blocks of a required size, the same results; launches of any other shape are refused, those of
the grid by the runtime, those of the block by the device, too."""
import json
import subprocess
import sys

import numpy as np
import tfcheck

check = tfcheck.Check([sys.argv[0], sys.argv[1], sys.argv[3]])
TEXT = """from tilefoundry import *

@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(6, 4, 32), "f32"], y: Tensor[(6, 4, 32), "f32"]) -> None:
    with Mesh((Topology("cta", 6), Topology("thread", 128)), Layout(shape=(6, 4, 32)), ("c", "w", "l")) as m:
        own = ShardLayout(layout=Layout(shape=(6, 4, 32)), attrs=(Split(0), Split(1), Split(2)), mesh=m)
        r = T.alloc_tensor(TensorType(shape=(6, 4, 32), dtype="f32", layout=own, storage=rmem))
        T.copy(T.tensor_view(x, layout=own), r)
        s = T.alloc_tensor(TensorType(shape=(6, 4, 1), dtype="f32", layout=T.reduced(own, (6, 4, 32), 2), storage=rmem))
        T.reduce(r, s, axes=(2,), kind="sum")
        T.binary(r, s, r, kind="sub")
        T.copy(r, T.tensor_view(y, layout=own))
"""
path, ptx, manifest = (check.scratch / f"linear.{suffix}" for suffix in ("tir", "ptx", "json"))
path.write_text(TEXT)
x = np.random.default_rng(7).integers(-20, 20, (6, 4, 32)).astype(np.float32)
want = x - x.sum(axis=2, keepdims=True)


def compile(*flags):
    for kind, out in (("ptx", ptx), ("manifest", manifest)):
        subprocess.run([sys.argv[2], *flags, f"--emit={kind}", "-o", str(out), str(path)], check=True)
    return ptx.read_text(), json.loads(manifest.read_text())["kernels"][0]


def run(grid, block, says=None):
    options = [f"--manifest={manifest}", "--kernel=k", f"--grid={grid}", f"--block={block}"]
    if says:
        check.fails(str(ptx), {"x": x}, says, options)
    else:
        check.run(str(ptx), {"x": x}, {"y": (want, 0, 0)}, options)


text, facts = compile()
assert ".maxntid 128" in text and ".reqntid" not in text and "%tid.z" in text and "%nctaid.y" in text
assert not facts["linear_grid"] and facts["required_block"] is None and facts["max_block_threads"] == 128
for grid, block in (("6", "128"), ("1,3,2", "4,8,4")):
    run(grid, block)

text, facts = compile("-flaunch=linear")
assert ".reqntid 128, 1, 1" in text and ".maxntid" not in text
assert not any(word in text for word in ("%tid.y", "%tid.z", "%ntid", "%ctaid.y", "%ctaid.z", "%nctaid")), text
assert facts["linear_grid"] and facts["required_block"] == [128, 1, 1] and facts["max_block_threads"] is None
run("6", "128")
run("1,6", "128", "kernel 'k': the grid is (1, 6, 1), the kernel was compiled for grids of one axis")
run("6", "64,2", "kernel 'k': the block is (64, 2, 1), the kernel requires (128, 1, 1)")
