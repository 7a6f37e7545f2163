#!/usr/bin/env bash
# Proves that the tests of the session and of the decision cause no data race: runs them under the thread sanitizer.
# First it proves that the sanitizer works: it must report a control program with a race, and must not report the
# same program with only a contended Mutex. usage: tsan.sh WIDTH [FILTER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=.build/tsan
mkdir -p $scratch
clang -shared -fPIC -O1 -o $scratch/tsan-mutex.so Scripts/tsan-mutex.c
swiftc -sanitize=thread -g -o $scratch/control Scripts/tsan-control.swift
preload=$PWD/$scratch/tsan-mutex.so
# The symbolizer gives names in stacks. Swift's own backtrace would wait for a process that the sanitizer has stopped.
symbolizer=$(dirname "$(readlink -f "$(command -v swift)")")/llvm-symbolizer
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan-suppressions.txt external_symbolizer_path=$symbolizer"

LD_PRELOAD=$preload $scratch/control >$scratch/control.log 2>&1 || { cat $scratch/control.log; exit 1; }
if LD_PRELOAD=$preload $scratch/control races >$scratch/control.log 2>&1; then
    echo "tsan: the sanitizer does not report the control's race" >&2
    exit 1
fi

swift build --build-tests --sanitize thread --scratch-path $scratch
# Preload the library only for the tests: the compiler's own processes run without the sanitizer.
tests=$(swift build --show-bin-path --scratch-path $scratch)/pintlePackageTests.xctest
LD_PRELOAD=$preload "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$1" \
    --filter "${2:-PintleURLSessionTests|Decision|Policy}"
echo "tsan: no race found"
