#!/usr/bin/env bash
# Builds the release preset and prints the simulated device's speed on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release
python3 bench/sim.py build-release
