#!/usr/bin/env bash
# Runs the tests with peers that take long to install or to run. An absent peer is a failure here, and a skip elsewhere.
# usage: peers.sh         runs them
#        peers.sh smoke   only proves that the tests are still found under their name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=.build/peers.log
mkdir -p .build
if [ "${1:-}" = smoke ]; then skip=(--skip-build); else skip=(--disable-build-manifest-caching) && export PINTLE_PEERS=1; fi
swift test "${skip[@]}" --disable-xctest --filter 'PintleToolsTests\.SlowPeerTests' 2>&1 | tee $log
if grep -q 'with 0 tests' $log || ! grep -q 'Test run with' $log; then
    echo "peers: error: no test is called SlowPeerTests any more" >&2
    exit 1
fi
