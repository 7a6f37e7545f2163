#!/usr/bin/env bash
# Makes one target under a heading, and records its duration for the last line of `make ci`. If it fails, its failures are printed
# once more at the end, because they may be thousands of lines above. usage: timed.sh TARGET
set -euo pipefail
echo "== $1"
start=$SECONDS
mkdir -p .build
log=.build/ci-$1.log
if ! make "$1" 2>&1 | tee "$log"; then
    echo "== failures of $1"
    grep -aE '^(✘|↳)|error:|ERROR: |FAILED' "$log" | cut -c1-400 | tail -n 40 || true
    echo "make: $1 failed; run only this step with: make $1" >&2
    exit 1
fi
echo "$1 $((SECONDS - start)) s" >>.build/ci-times
