#!/usr/bin/env bash
# Runs the tests with peers that take long to install or to run. Other test runs skip them. Here a skipped test
# is a failure.
# usage: peers.sh         runs them
#        peers.sh smoke   only proves that the tests are still found under their names
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=.build/peers.log
tests='PintleToolsTests\.(SlowPeerTests|RehearsingArticleTests/(go|okHttp)\(\)|RehearseHTTP2Tests/okHttp\()'
count=4
mkdir -p .build
if [ "${1:-}" = smoke ]; then
    found=$(swift test list --skip-build 2>/dev/null | grep -cE "^$tests" || true)
else
    PINTLE_PEERS=1 swift test --disable-build-manifest-caching --disable-xctest --filter "$tests" 2>&1 | tee $log
    found=$(grep -c '^✔ Test ".*passed' $log || true)
fi
[ "$found" = $count ] || { echo "peers: error: $found of $count tests with slow peers ran, or would run" >&2 && exit 1; }
