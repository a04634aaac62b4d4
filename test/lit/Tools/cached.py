# RUN: rm -rf %t && %python %s %tf-run %t
"""tf-run twice: the second run of a .tir takes what the first one compiled. An entry of the cache that is compiled again is
another file (it is renamed into place), so the files' inodes tell what was compiled."""
import os
import pathlib
import subprocess
import sys

tool, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
cache = scratch / "cache"
scratch.mkdir(parents=True)
source = scratch / "scale.tir"

TEXT = """@prim_func(target=CudaTarget("sm_80"))
def scale(x: Tensor[(5,), "i32"], by: Tensor[(), "i32"]) -> None:
    with Mesh((Topology("cta", 1), Topology("thread", 5)), Layout((1, 5)), ("c", "t")) as m:
        t = T.coord(m.t)
        if by < 0:
            T.abort("a negative factor")
        T.store(x, (t + 3) * by, t)
"""


def run(*options, by=7, place=cache, status=0):
    command = [tool, "--device=sim", "--arg=x=zeros", f"--arg=by={by}", "--print=x", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=dict(os.environ, TF_CACHE=str(place)))
    wanted = "[" + " ".join(str((t + 3) * by) for t in range(5)) + "]"
    if done.returncode != status or (status == 0 and wanted not in done.stdout):
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


def entries():
    return {file.name: file.stat().st_ino for file in cache.glob("*")}


def expect(good, what):
    if not good:
        sys.exit(f"{what}: {sorted(entries())}")


source.write_text(TEXT)
run(place="off")
expect(not cache.exists(), "a cache that is off was made")
run()
first = entries()
expect(len(first) == 1 and cache.stat().st_mode & 0o777 == 0o700, "one entry of a private folder")
run()
run(by=11)  # an argument is no part of the program
expect(entries() == first, "the second run compiled")

# What the code is made of, and what messages say of it, makes another entry.
message = run(by=-1, status=1)
expect("scale.tir:6: abort: a negative factor" in message and entries() == first, f"the place in\n{message}")
source.write_text("\n" + TEXT)
for _ in range(2):
    message = run(by=-1, status=1)
    expect("scale.tir:7: abort: a negative factor" in message and len(entries()) == 2, f"the place in\n{message}")
source.write_text(TEXT.replace("as m:", "as m:  # a remark"))
run()
expect(len(entries()) == 2, "a comment is no part of the program")
for options in ("--mcpu=sm_90",), ("--kernel=scale",), ("--entry=scale",):
    run(*options)
    before = entries()
    run(*options)
    expect(entries() == before, f"{options} compiled twice")
expect(len(before) == 5 and before.items() >= first.items(), "an entry for each way")

# A file that something happened to is made again.
for name in first:
    (cache / name).write_bytes((cache / name).read_bytes()[:-9])
source.write_text(TEXT)
run()
expect(entries().keys() == before.keys(), "the entry is not there again")
