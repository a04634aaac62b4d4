# RUN: %python %s %tf-run %t
"""tf-run on hand-written PTX, on the simulated device: as a bare kernel, with a manifest, under the checkers, counted."""
import json
import pathlib
import subprocess
import sys

import numpy as np

tool, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
scratch.mkdir(parents=True, exist_ok=True)
inputs = pathlib.Path(__file__).resolve().parents[2] / "unit" / "Runtime" / "Inputs"
out = scratch / "out.npy"
rng = np.random.default_rng(17)


def run(*options, code=0, says=(), shows=()):
    done = subprocess.run([tool, *map(str, options)], capture_output=True, text=True, timeout=120)
    missing = [m for m in says if m not in done.stderr] + [m for m in shows if m not in done.stdout]
    if done.returncode != code or missing:
        sys.exit(f"{' '.join(map(str, options))}\nexit {done.returncode}, wanted {code}; missing {missing}\n{done.stdout}{done.stderr}")
    return done


def file(name, array):
    np.save(scratch / f"{name}.npy", array)
    return scratch / f"{name}.npy"


# The manifest of the runtime's tests, without its cluster: an sm_80 has none.
manifest = json.loads((inputs / "everything.json").read_text())
manifest["kernels"][1]["cluster"] = None
json.dump(manifest, open(scratch / "m.json", "w"))
described = [f"--manifest={scratch / 'm.json'}", inputs / "scale.ptx"]
bare = inputs / "scale.ptx"

for rows in (1, 37):
    x = rng.standard_normal((rows, 512), dtype=np.float32)
    path = file("x", x)
    run("--device=sim", "--check=all", "--entry=half", f"--arg=p=@{path}", f"--out=q={out}", *described)
    assert np.array_equal(np.load(out), x * np.float32(0.5))
    run("--check=all", "--kernel=scale", f"--arg=x=@{path}", "--arg=a=-1.75", f"--out=y={out}", *described)
    assert np.array_equal(np.load(out), x * np.float32(-1.75))
    run("--check=all", "--kernel=scale", f"--grid={rows}", "--block=128", f"--arg=scale_x=@{path}", "--arg=1=3",
        f"--type=scale_y=f32[{rows},512]", f"--arg=3={rows}", f"--out=2={out}", bare)
    assert np.array_equal(np.load(out), x * np.float32(3))

# Orders that differ give the same result, and the choice of device is no secret.
for seed in (1, 2):
    run("--check=all", f"--seed={seed}", "--entry=half", f"--arg=p=@{path}", f"--out=q={out}", *described)
    assert np.array_equal(np.load(out), x * np.float32(0.5))
done = run("--device=sim", "--entry=half", f"--arg=p=@{path}", *described)
assert done.stderr == "", done.stderr

# Faults: their kernel and line, status 1.
run("--check=mem", "--kernel=stray", "--grid=1", "--block=1", "--type=0=f32[4]", "--arg=0=zeros", "--arg=1=16", bare, code=1,
    says=["stray"])
run("--check=all", "--kernel=stray", "--grid=1", "--block=1", "--type=0=f32[4]", "--arg=0=zeros", "--arg=1=12", bare)
run("--check=init", "--kernel=stray", "--grid=1", "--block=1", "--type=0=f32[4]", "--arg=1=4", bare, code=1, says=["stray"])
run("--kernel=scale", "--grid=1", "--block=1", f"--arg=0=@{path}", "--arg=1=1", "--type=2=f32[2]", "--arg=3=0", bare, code=1,
    says=["scale"])
run("--device=sim:sm_75", "--kernel=stray", "--grid=1", "--block=1", "--type=0=f32[4]", "--arg=1=4", bare, code=1, says=["sm_80"])
broken = scratch / "broken.ptx"
broken.write_text(bare.read_text().replace("mad.lo.u32", "mad.low.u32"))
run("--kernel=scale", "--grid=1", "--block=1", broken, code=1, says=["mad.low.u32"])

# Counters follow from the program: a warp makes 4 trips with one load and one store of 128 bytes, that is 4 sectors.
done = run("--counters=json", "--entry=half", f"--arg=p=@{path}", *described)
total = json.loads(done.stdout)["total"]["counters"]
requests = rows * 4 * 4 * 2
assert total["global_requests"] == requests and total["global_sectors"] == 4 * requests, total
assert total["global_bytes_read"] == total["global_bytes_written"] == rows * 2048, total
assert str(requests) in run("--counters", "--entry=half", f"--arg=p=@{path}", *described).stdout
