#!/bin/sh
# Code quality per kernel, ours beside its CUDA C++ twin: bench/codegen.sh [-arch=sm_80] [kernel…]
# Needs ptxas and nvcc (PATH or /usr/local/cuda/bin) and built tools (TF_LLC and TF_RUN, else those in build/).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH="$PATH:/usr/local/cuda/bin"
export PATH
tools=$here/../build/tools
exec "${PYTHON:-/usr/bin/python3}" "$here/codegen.py" --tf-llc "${TF_LLC:-$tools/tf-llc/tf-llc}" \
  --tf-run "${TF_RUN:-$tools/tf-run/tf-run}" "$@"
