"""Ops without a test: every-op.py TF-LLC FOLDER [NAME…]

`tf-llc --print-ops=list` names the ops; each needs FOLDER/<name>.tir, and the op has to appear in what that file checks. Further
NAMEs count as ops, too."""
import pathlib
import re
import subprocess
import sys

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
listed = subprocess.run([tool, "--print-ops=list"], capture_output=True, text=True, check=True).stdout
ops = set(re.findall(r"^(?:value|effect|scalar) +(\w+)\(", listed, re.M)) | set(sys.argv[3:])
tested = {path.stem for path in folder.glob("*.tir")}
for name in sorted(ops - tested):
    print(f"no test: {folder / name}.tir")
for name in sorted(tested - ops):
    print(f"no op of this name: {folder / name}.tir")
print(f"{len(ops)} ops")
sys.exit(1 if ops != tested or len(ops) < 20 else 0)
