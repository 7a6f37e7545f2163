#!/usr/bin/env bash
# Runs the tests under the address sanitizer. usage: asan.sh WIDTH
#                                                    asan.sh build   only compiles what is instrumented
#
# Only what ships is instrumented: the modules of Sources and the helper programs. The tests themselves are taken from
# the ordinary debug build, which saves most of the compile time; the sanitizer still sees every allocation they make.
#
# Foundation's own URLSession leaks inside libcurl, which has no frame pointers. Only a slow unwinder can tell whose leak
# that is, so the tests that also load with Foundation's session run in a process of their own, with that unwinder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
scratch=.build/asan
swift build --sanitize address --scratch-path $scratch --disable-index-store
[ "$1" != build ] || exit 0
swift build --build-tests --disable-build-manifest-caching # no work where the tests are built
debug=$(readlink -f .build/debug)
asan=$(readlink -f $scratch/debug)

# The same objects as the test program has, the instrumented one where there is one.
while IFS= read -r object; do
    instrumented=$asan/${object#"$debug"/}
    if [ -e "$instrumented" ]; then echo "$instrumented"; else echo "$object"; fi
done <"$debug/pintlePackageTests.product/Objects.LinkFileList" >$scratch/objects
for module in Sources/Pintle*/; do
    module=$(basename "$module")
    [ "$module" = PintleApple ] || [ "$module" = PintleCLI ] || grep -q "^$asan/$module.build/" $scratch/objects ||
        { echo "asan: $module is not instrumented" >&2 && exit 1; }
    ! grep "^$debug/$module.build/" $scratch/objects ||
        { echo "asan: these objects of $module are not instrumented" >&2 && exit 1; }
done
LC_ALL=C grep -qa __asan_report "$asan/Pintle.build/Certificate.swift.o" ||
    { echo "asan: the objects in $asan have no checks" >&2 && exit 1; }

tests=$asan/pintlePackageTests.xctest
# gold mentions each local symbol of the sanitizer that it does not export.
swiftc -sanitize=address -g -emit-executable -module-name pintlePackageTests -o "$tests" @$scratch/objects \
    -Xlinker '-rpath=$ORIGIN' $(pkg-config --libs libssl libcrypto libcurl libpsl expat) 2>&1 |
    { grep -v 'Cannot export local symbol' || true; }
run=("$tests" --testing-library swift-testing --experimental-maximum-parallelization-width)
with_foundation='PintleURLSessionTests\.(DifferentialTests|SessionExitTests|SessionEndTests|SessionDelegateArgumentTests)'
# The few that run apart wait most of their time, so they do it beside the others.
ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=12 \
    "${run[@]}" 1 --filter "$with_foundation" >$scratch/apart.log 2>&1 &
apart=$!
trap 'kill $apart 2>/dev/null || true' EXIT
status=0
"${run[@]}" "$1" --skip "$with_foundation" 2>&1 | tee $scratch/most.log || status=$?
wait $apart || status=$?
cat $scratch/apart.log
for log in most apart; do
    grep -q 'Test run with [1-9]' $scratch/$log.log || { echo "asan: no tests ran: $scratch/$log.log" >&2 && exit 1; }
done
exit $status
