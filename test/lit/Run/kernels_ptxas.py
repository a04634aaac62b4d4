# RUN: %python %s %tf-llc %ptxas %t %kernels
# REQUIRES: ptxas
"""Every kernel assembles for its target without spills, stack or local memory, and those that move rows use 16-byte accesses."""
import pathlib
import re
import subprocess
import sys

llc, ptxas, scratch, kernels = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
scratch.mkdir(parents=True, exist_ok=True)
SCALAR = {"jacobi", "relay", "selective_scan", "softmax_dispatch"}  # one element a thread, rows of any width

for source in sorted(kernels.glob("*.tir")):
    variants = [[], ["-D", "CAUSAL=1"]] if source.stem == "flash_attention" else [[]]
    for options in variants:
        path = scratch / f"{source.stem}.ptx"
        subprocess.run([llc, *options, "-o", str(path), str(source)], check=True, capture_output=True)
        text = path.read_text()
        target = re.search(r"^\.target (\w+)", text, re.M).group(1)
        done = subprocess.run([ptxas, f"-arch={target}", "-v", "-o", str(scratch / "a.cubin"), str(path)], capture_output=True, text=True)
        entries = len(re.findall(r"^\.visible \.entry", text, re.M))
        clean = done.stderr.count("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
        assert done.returncode == 0 and clean == entries > 0, f"{source.name}: {done.stderr}"
        assert ".local" not in text, f"{source.name}: local memory"
        # The ordinary accesses of 16 bytes: both directions, or asynchronous copies in and fragments out.
        wide = re.findall(r"(?:ld|st)\.global\S*\.v4\.b32|cp\.async\.cg\.shared\.global \S+ \S+ 16", text)
        assert (source.stem in SCALAR) != bool(wide), f"{source.name}: {len(wide)} accesses of 16 bytes"
