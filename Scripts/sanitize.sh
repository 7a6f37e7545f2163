#!/usr/bin/env bash
# Proves that the tests cause no memory error and no leak (asan), or that those of the session and of the decision cause no data
# race (tsan): builds them with the sanitizer in a folder of its own, and runs them. usage: sanitize.sh asan | tsan
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
scratch=.build/$1
width=${TEST_WIDTH:-4}
mkdir -p "$scratch"

# Foundation's own URLSession leaks inside libcurl, which has no frame pointers. Only a slow unwinder can attribute such a leak, so
# the tests that also load with Foundation's session run separately, with that unwinder.
asan() {
    local with_foundation='PintleURLSessionTests\.(DifferentialTests|SessionExitTests|SessionEndTests|SessionDelegateArgumentTests)'
    run() { PINTLE_TOOL='' "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" "$@"; }
    # PINTLE_TOOL is empty, because the tool is not instrumented.
    run --skip "$with_foundation"
    ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=12 run --filter "$with_foundation" --no-parallel
    echo "asan: no memory error and no leak found"
}

# First proves that the sanitizer works: it must report a control program with a race, and must not report the same program with only
# a contended Mutex. The library is preloaded only for these and the tests: the compiler's processes run without the sanitizer.
tsan() {
    local preload=$PWD/$scratch/tsan-mutex.so
    clang -shared -fPIC -O1 -o "$preload" Scripts/tsan-mutex.c
    swiftc -sanitize=thread -g -o $scratch/control Scripts/tsan-control.swift
    export TSAN_OPTIONS="external_symbolizer_path=$ASAN_SYMBOLIZER_PATH"
    LD_PRELOAD=$preload $scratch/control >$scratch/control.log 2>&1 || { cat $scratch/control.log; exit 1; }
    if LD_PRELOAD=$preload $scratch/control races >$scratch/control.log 2>&1; then
        echo "tsan: the sanitizer does not report the control's race" >&2
        exit 1
    fi
    LD_PRELOAD=$preload "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" \
        --filter 'PintleURLSessionTests|Decision|Policy'
    echo "tsan: no race found"
}

case $1 in
asan) kind=address ;;
tsan) kind=thread ;;
*) echo "usage: sanitize.sh asan | tsan" >&2 && exit 2 ;;
esac
swift build --build-tests --sanitize $kind --scratch-path "$scratch" --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-}
tests=$scratch/debug/pintlePackageTests.xctest
"$1"
