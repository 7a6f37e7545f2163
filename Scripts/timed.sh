#!/usr/bin/env bash
# Makes one target of `make ci` under a heading, and records its duration for the last line of `make ci`. If the step fails, its
# failures are printed once more at the end, because they may be thousands of lines above.
# usage: timed.sh NAME TARGET
set -euo pipefail
name=$1
echo "== $name"
start=$SECONDS
mkdir -p .build
log=.build/ci-$name.log
if ! make "$2" 2>&1 | tee "$log"; then
    echo "== failures of $name"
    grep -aE '^(✘|↳)|error:|ERROR: |FAILED' "$log" | cut -c1-400 | tail -n 40 || true
    echo "make ci: $name failed; run only this step with: make $2" >&2
    exit 1
fi
echo "$name $((SECONDS - start)) s" >>.build/ci-times
