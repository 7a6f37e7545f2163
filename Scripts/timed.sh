#!/usr/bin/env bash
# Runs one step of `make ci` under a heading, and records its duration for the last line of `make ci`.
# usage: timed.sh NAME COMMAND...
set -euo pipefail
name=$1
shift
echo "== $name"
start=$SECONDS
if ! "$@"; then
    echo "make ci: $name failed; run only this step with: make $name" >&2
    exit 1
fi
mkdir -p .build
echo "$name $((SECONDS - start)) s" >>.build/ci-times
