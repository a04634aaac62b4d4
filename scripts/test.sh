#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Arguments go to ctest (-R NAME, -V, …).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-deps.sh
scripts/build.sh dev
scripts/build.sh asan
ctest --preset asan -L "unit|fuzz" -j "$(nproc)"
ctest --preset dev -j "$(nproc)" "$@"
