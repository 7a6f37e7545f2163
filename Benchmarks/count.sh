#!/bin/bash
# Proves that no case has become more expensive: fails if its instructions or allocations exceed
# thresholds.txt by more than 5 %. run.sh calls count.sh --check|--record BENCH MATERIAL
set -euo pipefail
mode=$1 bench=$2 material=$3
command -v valgrind >/dev/null || { echo "bench: valgrind is needed: apt-get install valgrind" >&2; exit 2; }

# Valgrind cannot read Swift's debug information.
strip -g -o "$material/Bench" "$bench"

# The difference of two runs excludes start-up. The processor's capabilities are fixed, so that libcrypto
# uses the same code on every x86-64 machine, and so is the seed of Swift's dictionaries.
instructions() {
    local counts=() calls few=200
    # A pin decision is short: more calls make its count steady. The cases that take a million instructions need few.
    [[ $1 != pin-* && $1 != walk-* ]] || few=2000
    [[ $1 != hosts-* && $1 != policy && $1 != update* && $1 != signature* ]] || few=20
    for calls in $few $((2 * few)); do
        counts+=("$(OPENSSL_ia32cap=0x0:0x0 SWIFT_DETERMINISTIC_HASHING=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
            "$material/Bench" "$material" count "$1" $calls 2>&1 | sed -n 's/.*Collected : //p')")
    done
    echo $(((counts[1] - counts[0]) / few))
}

measure() {
    "$bench" "$material" allocations | grep -v '^walk-\|^signature' | while read -r name allocations; do
        local count
        count=$(instructions "$name")
        # For a pin decision, subtract the C walk: most of both is SHA-256, which is not Pintle's code.
        [[ $name != pin-* ]] || count=$((count - $(instructions "walk-${name#pin-}")))
        # For an update, subtract the signature check, for the same reason.
        [[ $name != update* ]] || count=$((count - $(instructions "signature${name#update}")))
        echo "$name $count $allocations"
    done
    ./count-sessions.sh "$material"
}

if [ "$mode" = --record ]; then
    { grep '^#' thresholds.txt; measure; } >"$material/thresholds.txt"
    exec cp "$material/thresholds.txt" thresholds.txt
fi
measure | awk '
    NR == FNR { if ($1 !~ /^#/) { instructions[$1] = $2; allocations[$1] = $3 }; next }
    !($1 in instructions) { print $1 ": not in thresholds.txt"; failed = 1; next }
    {
        verdict = "ok"
        if ($2 > instructions[$1] * 1.05 || $3 > allocations[$1] * 1.05) { verdict = "TOO MUCH"; failed = 1 }
        printf "%-18s %9d instructions (threshold %9d), %7.2f allocations (%7.2f): %s\n", \
            $1, $2, instructions[$1], $3, allocations[$1], verdict
    }
    END { exit failed }' thresholds.txt -
