#!/usr/bin/env bash
# Runs the tests with peers that take long to install or to run. Other test runs skip them. Here a skipped test is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=.build/peers.log
count=4
mkdir -p .build
PINTLE_PEERS=1 swift test --disable-build-manifest-caching --disable-xctest ${DEBUG_BUILD_OPTIONS:-} \
    --filter 'PintleToolsTests\.(SlowPeerTests|RehearsingArticleTests/(go|okHttp)\(\)|RehearseHTTP2Tests/okHttp\()' 2>&1 | tee $log
found=$(grep -c '^✔ Test ".*passed' $log || true)
[ "$found" = $count ] || { echo "peers: error: $found of $count tests with slow peers ran" >&2 && exit 1; }
