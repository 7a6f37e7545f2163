#!/usr/bin/env bash
# Runs the tests under the address sanitizer. usage: asan.sh WIDTH
#
# Only the shipped modules are instrumented, and they are compiled once: the objects of Sources come from the build of the
# fuzz targets, which is optimised like an app. The tests themselves come from the ordinary debug build; the sanitizer
# still sees every allocation that they make.
#
# Foundation's own URLSession leaks inside libcurl, which has no frame pointers. Only a slow unwinder can attribute such a
# leak, so the tests that also load with Foundation's session run separately, with that unwinder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
Fuzz/run.sh build                                          # no work if the targets are up to date
swift build --build-tests --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-} # no work if the tests are
debug=$(readlink -f .build/debug) instrumented=$(readlink -f Fuzz/.build/release) programs=$PWD/.build/asan
mkdir -p "$programs"

# Links a program of the debug build again, with instrumented objects where they exist.
link() { # program, options...
    local objects=$programs/$1.objects own
    while IFS= read -r object; do
        own=$instrumented/${object#"$debug"/}
        if [ -e "$own" ]; then echo "$own"; else echo "$object"; fi
    done <"$debug/$1.product/Objects.LinkFileList" >"$objects"
    # gold warns about each local symbol of the sanitizer that it does not export.
    swiftc -sanitize=address -g -emit-executable -module-name "$1" -o "$programs/$1" "@$objects" "${@:2}" \
        $(pkg-config --libs libssl libcrypto libcurl libpsl expat) 2>&1 | { grep -v 'Cannot export local symbol' || true; }
}
link pintlePackageTests
for module in Sources/Pintle*/; do
    ! grep "^$debug/$(basename "$module").build/.*\.swift\.o$" "$programs/pintlePackageTests.objects" ||
        { echo "asan: these objects are not instrumented" >&2 && exit 1; }
done
LC_ALL=C grep -qa __asan_report "$instrumented/Pintle.build/Certificate.swift.o" ||
    { echo "asan: the objects in $instrumented have no checks" >&2 && exit 1; }
# The programs that tests start.
for program in ReportVictim StorageVictim UpdateVictim Rehearsing; do
    link $program -Xlinker "--defsym=main=${program}_main"
done

with_foundation='PintleURLSessionTests\.(DifferentialTests|SessionExitTests|SessionEndTests|SessionDelegateArgumentTests)'
run() { # log, options...
    "$programs/pintlePackageTests" --testing-library swift-testing "${@:2}" >"$programs/$1.log" 2>&1
}
# A test that waits blocks a thread, and Swift has one thread per processor. So these two processes run in parallel.
ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=12 run foundation --filter "$with_foundation" --no-parallel &
foundation=$!
run most --skip "PintleToolsTests\.|$with_foundation" --experimental-maximum-parallelization-width "$1" &
most=$!
trap 'kill $foundation $most 2>/dev/null || true' EXIT
# Tests of the tool send Ctrl-C, which background jobs ignore. Those that start the tool are skipped: it is not instrumented.
status=0 && PINTLE_TOOL='' run tools --filter 'PintleToolsTests\.' --experimental-maximum-parallelization-width "$1" || status=$?
wait $most || status=$?
wait $foundation || status=$?
for log in tools most foundation; do
    grep -v ' started\.$' "$programs/$log.log"
    grep -q 'Test run with [1-9]' "$programs/$log.log" || { echo "asan: no tests ran: $programs/$log.log" >&2 && exit 1; }
done
exit $status
