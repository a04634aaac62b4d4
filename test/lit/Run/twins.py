# REQUIRES: nvcc, ptxas
# RUN: %python %s %tf-llc %tf-run
"""Every kernel has a hand-written CUDA C++ twin. Both run on the same random arrays on the same device, checked for the same
results; ours need neither spills nor local memory, and the products' shared tiles are free of bank conflicts."""
import pathlib
import subprocess
import sys

bench = pathlib.Path(__file__).resolve().parents[3] / "bench"
kernels = {path.stem for path in (bench.parent / "kernels").glob("*.tir")}
assert kernels == {path.stem for path in (bench / "twins").glob("*.cu")}
table = subprocess.run([sys.executable, bench / "codegen.py", "--tf-llc", sys.argv[1], "--tf-run", sys.argv[2]], capture_output=True, text=True)
assert table.returncode == 0, table.stdout + table.stderr

head, *lines = table.stdout.split("\n\n")[0].splitlines()
columns = head.split()[1:]
ours = {}
for line in lines:
    if "ours" in line:
        name, values = line.split("ours")
        ours[name.strip()] = dict(zip(columns, values.split()))
assert {name.split()[0] for name in ours} == kernels
for name, row in ours.items():
    assert row["spill"] == row["stack"] == row["local"] == "0", (name, row)
    if name.startswith(("matmul", "flash", "split")):
        assert float(row["conflict"]) == 1, (name, row)
