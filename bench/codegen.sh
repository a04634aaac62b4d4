#!/bin/sh
# Code quality per kernel, ours beside its CUDA C++ twin: bench/codegen.sh [-arch=sm_80] [kernel…]
# Needs ptxas and nvcc (PATH or /usr/local/cuda/bin) and a built tf-llc (TF_LLC, else build/tools/tf-llc/tf-llc).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH="$PATH:/usr/local/cuda/bin"
export PATH
exec "${PYTHON:-/usr/bin/python3}" "$here/codegen.py" --tf-llc "${TF_LLC:-$here/../build/tools/tf-llc/tf-llc}" "$@"
