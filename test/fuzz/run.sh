#!/bin/sh
# 100,000 random mutations of the tree's programs (or as many as said) through parser, printer and static evaluator, under the
# address and undefined-behaviour sanitizers: test/fuzz/run.sh [MUTATIONS [SEED]]
#
# Builds in build-fuzz beside the tree's other build folders. An input that fails is left there as fuzz-input; the tests
# fuzz.parser and fuzz.static run fewer.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
mutations=${1:-100000}
seed=${2:-1}
build=${TF_FUZZ_BUILD:-$tree/build-fuzz}

cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTF_SANITIZE=address,undefined > "$build.log" 2>&1 || {
  cat "$build.log"
  exit 1
}
ninja -C "$build" fuzz-parser fuzz-static
cd "$build"
test/fuzz/fuzz-parser --mutate="$mutations" --seed="$seed" "$tree/test/fuzz/parser" "$tree/kernels" "$tree/test/lit"
test/fuzz/fuzz-static --mutate="$mutations" --seed="$seed" "$tree/test/fuzz/static"
