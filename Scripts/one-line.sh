#!/usr/bin/env bash
# Proves that a program written for URLSession becomes a pinned one by changing one line: the two programs of
# Examples, which compile, differ in no more, and every diff in the documentation is that one. Prints what is not so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
change=$(diff Examples/Sources/Stock/main.swift Examples/Sources/Pinned/main.swift | sed -n 's/^< /-/p; s/^> /+/p' || true)
[ "$(wc -l <<<"$change")" -eq 2 ] || echo "Examples/Sources/Pinned/main.swift: differs from Stock in more than one line"
for document in README.md Examples/README.md Sources/*/*.docc/*.md; do
    shown=$(sed -n '/^```diff$/,/^```$/{/^```/!p}' "$document")
    [ -z "$shown" ] || [ "$shown" = "$change" ] || echo "$document: its diff is not that of Examples/Sources"
done
