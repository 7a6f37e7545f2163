#!/bin/bash
# Proves the claims about speed: measures Pintle and its peers, all built here, in one run.
#
#   Benchmarks/run.sh [pins|paths|sessions|hosts|processes|updates|load|audit]...    times; every section without arguments
#   Benchmarks/run.sh --check                            compares instructions and allocations with thresholds.txt
#   Benchmarks/run.sh --record                           rewrites thresholds.txt
set -euo pipefail
cd "$(dirname "$0")"

# Debian's packages of one version of Go put no command into PATH.
command -v go >/dev/null || for folder in /usr/lib/go-*/bin; do PATH=$folder:$PATH; done

material=$(mktemp -d)
export TMPDIR=$material
trap 'rm -rf "$material"' EXIT

# -enable-testing exports symbols, so that Bench can measure validation with the certificates of a handshake. It changes no code inside a module.
swift build -c release -Xswiftc -enable-testing --product Bench >&2
swift build -c release --product CPinProcess >&2
products=$(swift build -c release --show-bin-path)
./mint.sh "$material"
case ${1-} in --check | --record) ./count.sh "$1" "$products/Bench" "$material"; exit ;; esac

machine() {
    local model sha go
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    sha=$(grep -qw sha_ni /proc/cpuinfo && echo SHA-NI || echo 'no SHA-NI')
    go=$(command -v go >/dev/null && go version | cut -d' ' -f3 || echo 'no Go')
    echo "machine: ${model:-$(uname -m)}, $(nproc) processors, $sha; $(openssl version | cut -d' ' -f1,2);" \
        "$(swift --version 2>/dev/null | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p' | head -1); $go;" \
        "load $(cut -d' ' -f1 /proc/loadavg)"
    echo "times are medians of processor time for A, B, D and F, of wall time for Go and E; C, G and H have both"
}

section() {
    local go=() tool
    if [ -e "Go/$1.go" ] && command -v go >/dev/null; then
        go=("$products/$1-go")
        go build -o "${go[0]}" "Go/$1.go"
    fi
    case $1 in
    sessions | load)
        # Built without -enable-testing, in the folder of the linkage test, which has the same libraries.
        swift build -c release --scratch-path ../Tests/LinkageTest/.build --disable-build-manifest-caching \
            --product SessionBench >&2
        ../Tests/LinkageTest/.build/release/SessionBench "${1/sessions/times}" "${go[@]}"
        ;;
    processes)
        make -C .. release-tool >&2
        tool=../.build/release/pintle
        "$products/Bench" "$material" processes "$tool" "$products/CPinProcess"
        ;;
    audit) ./audit.sh "$material" ;;
    *) "$products/Bench" "$material" "$1" ;;
    esac
}

machine
for name in ${*:-pins paths sessions hosts processes updates load audit}; do section "$name"; done
