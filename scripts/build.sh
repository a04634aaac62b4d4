#!/usr/bin/env bash
# Builds one preset (dev if none is named), with ccache where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake --preset "$preset" "${launcher[@]}" >/dev/null
cmake --build --preset "$preset" -- -k 0
