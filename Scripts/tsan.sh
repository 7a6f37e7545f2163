#!/usr/bin/env bash
# Proves that the session and the decision have no data race that their tests can bring about: runs them under the
# thread sanitizer. First it proves that the sanitizer would know: a control with a race is reported, and the same
# with a contended Mutex alone is not. usage: tsan.sh WIDTH [FILTER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=.build/tsan
mkdir -p $scratch
clang -shared -fPIC -O1 -o $scratch/tsan-mutex.so Scripts/tsan-mutex.c
swiftc -sanitize=thread -g -o $scratch/control Scripts/tsan-control.swift
preload=$PWD/$scratch/tsan-mutex.so
# Names in stacks; and no backtrace of Swift's, which would wait for a process that the sanitizer has stopped.
symbolizer=$(dirname "$(readlink -f "$(command -v swift)")")/llvm-symbolizer
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan-suppressions.txt external_symbolizer_path=$symbolizer"

LD_PRELOAD=$preload $scratch/control >$scratch/control.log 2>&1 || { cat $scratch/control.log; exit 1; }
if LD_PRELOAD=$preload $scratch/control races >$scratch/control.log 2>&1; then
    echo "tsan: the race of the control is not found" >&2
    exit 1
fi

swift build --build-tests --sanitize thread --scratch-path $scratch
# Only into the tests: the compiler's own processes have no sanitizer, and need none of this.
tests=$(swift build --show-bin-path --scratch-path $scratch)/pintlePackageTests.xctest
LD_PRELOAD=$preload "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$1" \
    --filter "${2:-PintleURLSessionTests|Decision|Policy}"
echo "tsan: no race found"
