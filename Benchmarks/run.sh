#!/bin/bash
# Measures Pintle beside its peers, all built here and run in one go.
#
#   Benchmarks/run.sh                 every section
#   Benchmarks/run.sh pins hosts      some of: pins paths hosts processes
#   Benchmarks/run.sh --check         instructions and allocations against thresholds.txt; times are not judged
#   Benchmarks/run.sh --record        writes thresholds.txt anew
set -euo pipefail
cd "$(dirname "$0")"

material=$(mktemp -d)
trap 'rm -rf "$material"' EXIT

build() {
    # Testing is enabled so that the host table can be measured by itself and validation on the
    # certificates of a handshake; it exports symbols and changes no code inside a module.
    swift build -c release -Xswiftc -enable-testing --product Bench >&2
    swift build -c release --product CPinProcess >&2
    products=$(swift build -c release --show-bin-path)
    ./mint.sh "$material"
}

machine() {
    local model sha
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    sha=$(grep -qw sha_ni /proc/cpuinfo && echo SHA-NI || echo 'no SHA-NI')
    echo "machine: ${model:-$(uname -m)}, $(nproc) processors, $sha; $(openssl version | cut -d' ' -f1,2);" \
        "$(swift --version 2>/dev/null | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p' | head -1);" \
        "$(command -v go >/dev/null && go version | cut -d' ' -f3 || echo 'no Go'); load $(cut -d' ' -f1 /proc/loadavg)"
    echo "times are medians of processor time for A, B and D, of wall time for E"
}

section() {
    case $1 in
    hosts)
        if command -v go >/dev/null; then
            go build -o "$products/hosts-go" Go/hosts.go
            "$products/Bench" "$material" hosts "$products/hosts-go"
        else
            "$products/Bench" "$material" hosts
        fi
        ;;
    processes)
        swift build --package-path .. -c release --static-swift-stdlib --product pintle >&2
        local tool
        tool=$(swift build --package-path .. -c release --show-bin-path)/pintle
        "$products/Bench" "$material" processes "$tool" "$products/CPinProcess"
        ;;
    *) "$products/Bench" "$material" "$1" ;;
    esac
}

# Instructions per call, start-up taken out: the difference of two runs. The capabilities are fixed so that
# libcrypto takes the same code on every x86-64 machine; valgrind cannot read the debug information.
instructions() {
    local counts=()
    for calls in 200 400; do
        counts+=("$(OPENSSL_ia32cap=0x0:0x0 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
            "$material/Bench" "$material" count "$1" $calls 2>&1 | sed -n 's/.*Collected : //p')")
    done
    echo $(((counts[1] - counts[0]) / 200))
}

measure() {
    strip -g -o "$material/Bench" "$products/Bench"
    "$products/Bench" "$material" allocations | grep -v '^walk-' | while read -r name allocations; do
        local count
        count=$(instructions "$name")
        # Of a pin decision, what it costs beyond the C walk: most of both is SHA-256, which is not ours.
        [[ $name != pin-* ]] || count=$((count - $(instructions "walk-${name#pin-}")))
        echo "$name $count $allocations"
    done
}

case ${1-} in
--record)
    build
    { sed -n '/^#/p' thresholds.txt; measure; } >"$material/thresholds.txt"
    cp "$material/thresholds.txt" thresholds.txt
    ;;
--check)
    command -v valgrind >/dev/null || { echo "bench: valgrind is needed: apt-get install valgrind" >&2; exit 2; }
    build
    measure | awk '
        NR == FNR { if ($1 !~ /^#/) { instructions[$1] = $2; allocations[$1] = $3 }; next }
        {
            if (!($1 in instructions)) { print $1 ": not in thresholds.txt"; failed = 1; next }
            verdict = "ok"
            if ($2 > instructions[$1] * 1.05 || $3 > allocations[$1] * 1.05) { verdict = "TOO MUCH"; failed = 1 }
            printf "%-20s %9d instructions (threshold %9d), %7.2f allocations (%7.2f): %s\n", \
                $1, $2, instructions[$1], $3, allocations[$1], verdict
        }
        END { exit failed }' thresholds.txt -
    ;;
*)
    build
    machine
    for name in ${*:-pins paths hosts processes}; do section "$name"; done
    ;;
esac
