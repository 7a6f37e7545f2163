#!/usr/bin/env bash
# Runs the tests under the address sanitizer. usage: asan.sh WIDTH
#
# Only what ships is instrumented, and it is compiled once: the objects of Sources come from the build of the fuzz
# targets, which is optimised, as the code of an app is. The tests themselves come from the ordinary debug build; the
# sanitizer still sees every allocation they make.
#
# Foundation's own URLSession leaks inside libcurl, which has no frame pointers. Only a slow unwinder can tell whose leak
# that is, so the tests that also load with Foundation's session run in a process of their own, with that unwinder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
Fuzz/run.sh build                                          # no work where the targets are built
swift build --build-tests --disable-build-manifest-caching # nor where the tests are
debug=$(readlink -f .build/debug) instrumented=$(readlink -f Fuzz/.build/release) programs=$PWD/.build/asan
mkdir -p "$programs"

# Links a program of the debug build anew, with the instrumented object wherever there is one.
link() { # program, options...
    local objects=$programs/$1.objects own
    while IFS= read -r object; do
        own=$instrumented/${object#"$debug"/}
        if [ -e "$own" ]; then echo "$own"; else echo "$object"; fi
    done <"$debug/$1.product/Objects.LinkFileList" >"$objects"
    # gold mentions each local symbol of the sanitizer that it does not export.
    swiftc -sanitize=address -g -emit-executable -module-name "$1" -o "$programs/$1" "@$objects" "${@:2}" \
        $(pkg-config --libs libssl libcrypto libcurl libpsl expat) 2>&1 | { grep -v 'Cannot export local symbol' || true; }
}
link pintlePackageTests
for module in Sources/Pintle*/; do
    module=$(basename "$module")
    case $module in PintleApple | PintleCLI) continue ;; esac # not in the tests
    grep -q "^$instrumented/$module.build/" "$programs/pintlePackageTests.objects" ||
        { echo "asan: $module is not instrumented" >&2 && exit 1; }
    ! grep "^$debug/$module.build/" "$programs/pintlePackageTests.objects" ||
        { echo "asan: these objects of $module are not instrumented" >&2 && exit 1; }
done
LC_ALL=C grep -qa __asan_report "$instrumented/Pintle.build/Certificate.swift.o" ||
    { echo "asan: the objects in $instrumented have no checks" >&2 && exit 1; }
# Programs that tests start.
for program in ReportVictim StorageVictim UpdateVictim Rehearsing; do
    link $program -Xlinker "--defsym=main=${program}_main"
done

run=("$programs/pintlePackageTests" --testing-library swift-testing --experimental-maximum-parallelization-width)
with_foundation='PintleURLSessionTests\.(DifferentialTests|SessionExitTests|SessionEndTests|SessionDelegateArgumentTests)'
# The few that run apart wait most of their time, so they do it beside the others.
ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=12 \
    "${run[@]}" 1 --filter "$with_foundation" >"$programs/apart.log" 2>&1 &
apart=$!
trap 'kill $apart 2>/dev/null || true' EXIT
status=0
"${run[@]}" "$1" --skip "$with_foundation" 2>&1 | tee "$programs/most.log" || status=$?
wait $apart || status=$?
cat "$programs/apart.log"
for log in most apart; do
    grep -q 'Test run with [1-9]' "$programs/$log.log" || { echo "asan: no tests ran: $programs/$log.log" >&2 && exit 1; }
done
exit $status
