#!/usr/bin/env bash
# Installs what is missing, builds, and runs kernels/matmul.tir on NumPy input: the result, its error against a double
# precision reference, and what the device counted.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-deps.sh
scripts/build.sh dev

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 - "$work" <<'PYTHON'
import sys
import numpy as np

rng = np.random.default_rng(2026)
bits = rng.standard_normal((2, 256, 128), dtype=np.float32).view(np.uint32)
a, b = (bits & np.uint32(0xFFFF0000)).view(np.float32)  # values that bf16 holds
a = np.ascontiguousarray(a.T)
np.save(f"{sys.argv[1]}/a.npy", a)
np.save(f"{sys.argv[1]}/b.npy", b)
np.save(f"{sys.argv[1]}/expected.npy", a.astype(np.float64) @ b.astype(np.float64))
PYTHON

echo "== kernels/matmul.tir, compiled: the inner loop's instructions"
build/tools/tf-llc/tf-llc kernels/matmul.tir -o "$work/matmul.ptx"
grep -oE '(mma\.sync|ldmatrix|ld\.global|st\.global|st\.shared|ld\.shared|bar\.sync)[a-z0-9_.]*' "$work/matmul.ptx" | sort | uniq -c

echo "== run on NumPy arrays"
build/tools/tf-run/tf-run --arg a=@"$work/a.npy" --arg b=@"$work/b.npy" --print c \
  --expect c=@"$work/expected.npy" --rtol=1e-2 --atol=1e-4 --check=all --counters kernels/matmul.tir
