#!/bin/bash
# Prints a line for thresholds.txt for each case of a pinned session: a kept GET of 100 bytes, 1, 64 or 256 at once. The
# client is a process of its own, so the servers are not counted. count.sh calls it with the directory $1.
set -euo pipefail
material=$1

for product in SessionBench AllocationCounter; do
    swift build -c release --scratch-path ../Tests/LinkageTest/.build --disable-build-manifest-caching \
        --product "$product" >&2
done
products=$PWD/../Tests/LinkageTest/.build/release
# Valgrind cannot read Swift's debug information.
strip -g -o "$material/SessionBench" "$products/SessionBench"

under() { "$material/SessionBench" load-under "$@" 2>&1; }

# The client starts and ends the counting itself, because its start and its handshakes vary too much for a difference
# of two runs.
measure() { # version of HTTP, number of requests at once, number of rounds
    local count allocations
    count=$(OPENSSL_ia32cap=0x0:0x0 under "$@" valgrind --tool=callgrind --instr-atstart=no \
        --callgrind-out-file=/dev/null | sed -n 's/.*Collected : //p')
    [ "${count:-0}" -gt 0 ] || { echo "bench: no instructions counted: build with valgrind's headers" >&2; exit 2; }
    allocations=$(under "$@" env "LD_PRELOAD=$products/libAllocationCounter.so")
    echo "session-$1-$2 $((count / ($2 * $3))) $allocations"
}

for version in http1 http2; do
    measure $version 1 500
    measure $version 64 15
    measure $version 256 4
done
