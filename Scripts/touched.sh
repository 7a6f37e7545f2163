#!/usr/bin/env bash
# Prints which of the given parts of `make nightly` the change touches. The change is everything since PINTLE_BASE, or else since
# the first parent of HEAD, so that a merge counts with all that it brings. In a clone without history it prints all parts.
# usage: touched.sh PART...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base=$(git rev-parse -q --verify "${PINTLE_BASE:-HEAD^1}^{commit}") || { printf '%s\n' "$@" && exit; }
files=$(git diff --name-only "$base")
touches() { grep -qE "$1" <<<"$files"; }
adds() { [ -n "$(git diff --name-only -G "$1" "$base" -- 'Sources/*.swift' 'Sources/C*/*.h')" ]; } # or removes a line like this

for part in "$@"; do
    case $part in
    plugin) touches '^Plugins/|^Sources/Pintle(PolicyChecker|PolicyLint|Text)/|^Scripts/plugin|^Tests/XcodeStandIn/' ;;
    model) touches '^Models/|^Specification/|^Sources/PintleUpdates/(Store|Verification)' ;;
    states) touches '^Models/|^Sources/(Pintle/(Approvals|Decision|Path|Policy)|PintleUpdates/(Store|Verification)|PintleURLSession/Linux/Task)/|^Tests/.*/(DecisionModel|OutboxSequence|Scope|SpecifiedScope|StoreModel|Task)' ;;
    costs) touches '^(Benchmarks|Sources)/' ;;
    darwin) touches '^Tests/(Darwin|System|StandIns/CryptoKit)|^Scripts/half|^Sources/Pintle(Console|PolicyTools|Process|System|Tools)/' || adds 'canImport\(Darwin\)' ;;
    verdicts) touches '^Tests/StandIns/|^Sources/Pintle(Apple|Attacks)/|^Sources/PintleURLSession/(Apple|Shared)/|^Examples/Sources/Client|^Scripts/verdicts' ;;
    fuzz-smoke) touches '^(Fuzz|Sources)/' ;;
    engines) touches '^Examples/(collector|audit-at-scale|key-history)/|^Scripts/engines' ;;
    modern) touches '^Scripts/modern|^Sources/Pintle(OpenSSL|TLSClient|URLSession)/' ;;
    peers) touches '^Sources/PintleAttacks/|^Tests/PintleToolsTests/SlowPeer|^Tests/Consumers/' ;;
    nio) touches '^Sources/PintleNIO/|^Examples/NIO/' ;;
    packages) touches '^Packaging/' ;;
    *) echo "touched: error: no part is called $part" >&2 && exit 2 ;;
    esac && echo "$part"
done
exit 0
