#!/usr/bin/env bash
# Proves on Linux that the tool's sources fit macOS's C library: Tests/Darwin compiles each `#if canImport(Darwin)` branch
# against a module that has only what macOS has, with macOS's types. Then it examines the claims of Tests/SystemClaims, runs the
# demo and a rehearsal of curl, which starts programs, and the tests that start the tool (after make unit). Last it builds the part of
# the tool that a Mac has without OpenSSL, over the stand-in for CryptoKit too, and compares its output with that of the whole tool.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build() { swift build --package-path Tests/Darwin --scratch-path "$1" --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-}; }
PINTLE_OPENSSL=1 build .build/darwin
timeout 60 .build/darwin/debug/SystemProbe # a claim that does not hold may block
tool=$PWD/.build/darwin/debug/pintle
output=$("$tool" demo)
[ "$(grep -c ' REJECTED ' <<<"$output")" -eq 5 ] || { echo "$output" && echo "darwin: the demo must reject 5 servers" >&2 && exit 1; }
"$tool" rehearse --only trusted-interceptor,stall-mid-handshake -- \
    curl -sS -m 2 --cacert '{ca}' --pinnedpubkey '{pins}' '{url}' >/dev/null
PINTLE_TOOL=$tool swift test --skip-build --disable-xctest --filter 'PintleToolsTests\.' \
    --experimental-maximum-parallelization-width "${TEST_WIDTH:-4}"
build .build/darwin-cryptokit
Scripts/half.sh .build/darwin-cryptokit/debug/pintle "$tool"
echo "darwin: the tool compiles for macOS's C library, and its demo, a rehearsal and its tests pass with the stand-in"
