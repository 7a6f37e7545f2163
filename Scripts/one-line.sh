#!/usr/bin/env bash
# Proves that changing one line of a program for URLSession pins it: the two programs of Examples, which compile,
# differ in one line, and every diff in the documentation shows that line. Prints each exception.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
change=$(diff Examples/Sources/Stock/main.swift Examples/Sources/Pinned/main.swift | sed -n 's/^< /-/p; s/^> /+/p' || true)
[ "$(wc -l <<<"$change")" -eq 2 ] || echo "Examples/Sources/Pinned/main.swift: differs from Stock in more than one line"
for document in README.md Examples/README.md Sources/*/*.docc/*.md; do
    shown=$(sed -n '/^```diff$/,/^```$/{/^```/!p}' "$document")
    [ -z "$shown" ] || [ "$shown" = "$change" ] || echo "$document: its diff is not that of Examples/Sources"
done
