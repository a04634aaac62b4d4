#!/usr/bin/env bash
# Builds the release preset and prints what checked and prepared calls with 10 tensors cost over the bare driver call, and what a first
# call takes from text on, compiled and from the disk cache.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release
build-release/bench/bench-launch
build-release/bench/bench-first-call
