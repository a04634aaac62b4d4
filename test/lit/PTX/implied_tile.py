# RUN: %python %s %tf-llc %t %kernels
"""An mma without atom= means the tile that its fragments are of: the kernels compile to the same PTX without it."""
import pathlib
import re
import subprocess
import sys

llc, scratch, kernels = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)


def compiled(path):
    return subprocess.run([llc, path], capture_output=True, text=True, check=True).stdout


tried = 0
for source in sorted(kernels.glob("*.tir")):
    text = source.read_text()
    bare = re.sub(r",\s*atom=\w+,?(\s*\))", r"\1", text)
    if bare == text:
        continue
    (scratch / source.name).write_text(bare)
    assert compiled(scratch / source.name) == compiled(source), source.name
    tried += 1
assert tried >= 8, tried
