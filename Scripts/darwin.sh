#!/usr/bin/env bash
# Proves on Linux that the tool's sources fit macOS's C library: compiles each `#if canImport(Darwin)` branch against the
# module of Tests/StandIns/Darwin, which has only what macOS has, with macOS's types. Then it examines the claims of
# Tests/SystemClaims, and runs that program: the demo, and a rehearsal of curl, which starts programs.
# With `all` it also runs the tests that start the tool with that program (after make unit). usage: darwin.sh [all]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for product in pintle SystemProbe; do
    PINTLE_DARWIN_STANDIN=1 swift build --scratch-path .build/darwin ${DEBUG_BUILD_OPTIONS:-} --product $product
done
timeout 60 .build/darwin/debug/SystemProbe # a claim that does not hold may block
tool=$PWD/.build/darwin/debug/pintle
output=$("$tool" demo)
[ "$(grep -c ' REJECTED ' <<<"$output")" -eq 5 ] || { echo "$output" && echo "darwin: the demo must reject 5 servers" >&2 && exit 1; }
"$tool" rehearse --only trusted-interceptor,stall-mid-handshake -- \
    curl -sS -m 2 --cacert '{ca}' --pinnedpubkey '{pins}' '{url}' >/dev/null
[ "${1:-}" != all ] || PINTLE_TOOL=$tool swift test --skip-build --disable-xctest --filter 'PintleToolsTests\.' \
    --experimental-maximum-parallelization-width "${TEST_WIDTH:-4}"
echo "darwin: the tool compiles for macOS's C library, and its demo and a rehearsal pass with the stand-in"
