#!/usr/bin/env bash
# Installs the Debian packages that building and testing need and this machine lacks. CUDA's tools are optional: the tests
# that need them are skipped without.
set -euo pipefail

packages=(
  cmake ninja-build gcc libc6-dev pkg-config git ca-certificates   # to build
  llvm-22-dev llvm-22-tools                                        # the NVPTX back end, lit, FileCheck
  uthash-dev libdlpack-dev libjansson-dev libxxhash-dev            # libraries
  check python3 python3-numpy python3-jsonschema                   # to test
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
