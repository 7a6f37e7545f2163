#!/usr/bin/env bash
# The tests under the address sanitizer. usage: asan.sh WIDTH
#
# Foundation's own URLSession leaks inside libcurl, which has no frame pointers: only a slow unwinder sees whose leak
# that is. So the tests that also load with Foundation's session run apart, with that unwinder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
with_foundation='PintleURLSessionTests\.(DifferentialTests|SessionExitTests)'
run=(swift test --sanitize address --scratch-path .build/asan --disable-xctest
    --experimental-maximum-parallelization-width "$1")
"${run[@]}" --skip "$with_foundation"
ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=12 "${run[@]}" --skip-build --filter "$with_foundation"
