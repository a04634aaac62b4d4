#!/usr/bin/env bash
# Builds the release preset and prints what a checked call with 10 tensors costs over the bare driver call, and what the first
# call takes from text on, compiled and from the disk cache.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release
build-release/bench/bench-launch
build-release/bench/bench-first-call
