#!/usr/bin/env bash
# Runs one step of `make ci` under a heading, and notes how long it took for the closing line.
# usage: timed.sh NAME COMMAND...
set -euo pipefail
name=$1
shift
echo "== $name"
start=$SECONDS
if ! "$@"; then
    echo "make ci: $name failed; run it alone with: make $name" >&2
    exit 1
fi
mkdir -p .build
echo "$name $((SECONDS - start)) s" >>.build/ci-times
