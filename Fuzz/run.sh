#!/usr/bin/env bash
# Fuzzes the parsers of untrusted bytes under the address sanitizer. Each folder of Sources is one entry.
# usage: run.sh smoke             every entry, a few seconds, fixed seed
#        run.sh long ENTRY SECS   one entry; keeps new inputs in .build/corpus/ENTRY
#        run.sh again ENTRY FILE  one input once; prints the stack of a crash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Scripts/sanitizers.sh
cd Fuzz
mode=${1:-}
entry=${2:-}
smoke_seconds=${FUZZ_SMOKE_SECONDS:-2}

if [ "$mode" != smoke ] && [ ! -d "Sources/${entry:-.}/" -o -z "$entry" ]; then
    echo "fuzz: error: no entry \"$entry\"; name one: make fuzz TARGET=JSON SECONDS=600" >&2
    echo "fuzz: hint: the entries are $(cd Sources && echo *)" >&2
    exit 2
fi

# SwiftPM's --sanitize takes one sanitizer, so compiler flags combine libFuzzer's coverage with ASan. A release build
# is fast and still traps on overflow and bounds. The last three options are for a shorter build.
build=(swift build -c release --sanitize fuzzer -Xswiftc -sanitize=address,fuzzer -Xswiftc -enable-testing -Xswiftc -Osize
    -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld)
[ "$mode" = smoke ] || build+=(--product "$entry")
[ "$mode" = one ] || touch Package.swift # otherwise SwiftPM overlooks files that were added or removed in Pintle
[ "$mode" = one ] || "${build[@]}"

run() { # entry, options and corpora...
    local crashes=$PWD/.build/crashes/$1 log=$PWD/.build/$1.log
    mkdir -p "$crashes"
    "$(readlink -f .build/release)/$1" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$crashes/" "${@:2}" \
        >"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        echo "fuzz: $1 stopped; its input is the newest file in $crashes" >&2
        echo "fuzz: hint: Fuzz/run.sh again $1 FILE; then make it a test" >&2
        return 1
    }
    echo "fuzz: $1: $(sed -n 's/^Done \(.*\)/\1/p' "$log"), nothing found"
}

case $mode in
smoke)
    ./mint-corpus.sh .build/corpus
    # One process per processor.
    ls Sources | xargs -P "$(nproc)" -n 1 ./run.sh one
    ;;
one) # called by the smoke run, which has built the entry
    rm -rf ".build/smoke/$entry" && mkdir -p ".build/smoke/$entry" ".build/corpus/$entry"
    run "$entry" -seed=1 -max_total_time="$smoke_seconds" ".build/smoke/$entry" ".build/corpus/$entry"
    ;;
long)
    ./mint-corpus.sh .build/corpus
    mkdir -p ".build/corpus/$entry"
    run "$entry" -max_total_time="${3:-60}" ".build/corpus/$entry"
    ;;
again) run "$entry" "$3" ;;
esac
