#!/bin/sh
# 100,000 random mutations of the tree's programs (or as many as said) through the parser, the printer, the verifier and the
# static evaluator, under the address and undefined-behaviour sanitizers: test/fuzz/run.sh [MUTATIONS [SEED [TARGET…]]]
#
# Targets: parser verifier static, and ptx (slower, only when named). Builds in build-fuzz beside the tree's other build folders;
# inputs of findings are left there. The tests fuzz.* run mutations of seed 1 for a short time.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
mutations=${1:-100000}
seed=${2:-1}
[ $# -gt 2 ] && shift 2 || set -- parser verifier static
build=${TF_FUZZ_BUILD:-$tree/build-fuzz}

programs=
for target; do programs="$programs fuzz-$target"; done
mkdir -p "$build"
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTF_SANITIZE=address,undefined -DTF_ARENA_MALLOC=ON \
  > "$build/configure.log" 2>&1 || {
  cat "$build/configure.log"
  exit 1
}
ninja -C "$build" $programs
cd "$build"
status=0
for target; do
  "test/fuzz/fuzz-$target" --mutate="$mutations" --seed="$seed" "@test/fuzz/$target.inputs" || status=1
done
exit $status
