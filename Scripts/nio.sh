#!/usr/bin/env bash
# Proves PintleNIO on the real SwiftNIO: builds Examples/NIO, which turns on the trait NIO, runs its tests and its echo
# service, and attacks its client and its web socket with `pintle rehearse`. First proves that without the trait nothing is fetched.
# SwiftNIO comes from GitHub, or from mirrors: PINTLE_MIRRORS is a folder with the mirrors.json that
# `swift package config set-mirror` writes. Where neither can be reached, the script says "skipped", or fails with
# PINTLE_REQUIRED=1. PINTLE_CONNECTIONS is the number of connections of the memory test, by default 1000.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=${PINTLE_TOOL:-.build/release/pintle}
package=(--package-path Examples/NIO --scratch-path .build/nio ${PINTLE_MIRRORS:+--config-path "$PINTLE_MIRRORS"})
export GIT_TERMINAL_PROMPT=0
mkdir -p .build

# A build of the repository itself with the trait leaves this file. SwiftPM fetches what it lists even without the trait.
[ ! -e Package.resolved ] || { echo "nio: error: delete Package.resolved, or every build fetches SwiftNIO" >&2; exit 1; }
for other in . Examples Benchmarks Fuzz Tests/LinkageTest; do
    scratch=.build/nio-off/${other//[.\/]/-}
    rm -rf "$scratch"
    fetched=$(swift package --package-path "$other" --scratch-path "$scratch" resolve 2>&1) || fetched+=" failed"
    [ -z "$fetched" ] && [ -z "$(ls -A "$scratch/repositories" 2>/dev/null)" ] ||
        { echo "nio: error: without the trait $other fetches: $fetched" >&2; exit 1; }
    echo "nio: without the trait $other fetches nothing"
done

for name in swift-nio swift-nio-ssl; do
    [ -n "${PINTLE_MIRRORS:-}" ] || timeout 20 git ls-remote -q "https://github.com/apple/$name.git" HEAD >/dev/null 2>&1 ||
        { echo "nio: skipped: $name cannot be fetched here; PINTLE_MIRRORS can name mirrors" && exit ${PINTLE_REQUIRED:+1}; }
done

swift package "${package[@]}" resolve
jq -r '.pins[] | "nio: \(.identity) \(.state.version)"' Examples/NIO/Package.resolved

swift build "${package[@]}" --build-tests
swift test "${package[@]}" --skip-build --disable-xctest
Scripts/api.sh symbols NIO && Scripts/api.sh check NIO # after an intended change: Scripts/api.sh write NIO
programs=$(swift build "${package[@]}" --show-bin-path)
"$programs/Echo"
"$tool" rehearse -- "$programs/Client" '{url}' '{policy}'
"$tool" rehearse -- "$programs/Socket" '{url}' '{policy}'
echo "nio: everything passed"
