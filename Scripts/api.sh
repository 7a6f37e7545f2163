#!/usr/bin/env bash
# Shows changes of the public API: API/MODULE.txt has one line for each public declaration (path, kind, text), below a line
# with their numbers. "write" writes the files from the output of Scripts/symbols.sh, and fails if more declarations than
# before have no doc comment. "check" fails if the files differ. "undocumented" lists declarations without a doc comment.
# With "apple" the files are in API/Apple. usage: api.sh write|check|undocumented [apple]
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=$1
suffix=${2:+-apple}
api=API${2:+/Apple}
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
new=.build/api$suffix
failed=0

rm -rf "$new" && mkdir -p "$new" "$api"
for symbols in .build/symbols"$suffix"/*/; do
    module=$(basename "$symbols")
    jq -s -f Scripts/api.jq "$symbols"*.symbols.json >"$new/$module.json"
    if [ "$mode" = undocumented ]; then
        jq -r --arg name "$module" '.[] | select(.isDocumented | not) | "\($name): \(.path) | \(.kind) | \(.text)"' "$new/$module.json"
        continue
    fi
    jq -r --arg version "$version" '"# Swift \($version): \(map(select(.isType)) | length) types, \(map(select(.isType | not)) | length)"
        + " members, \(map(select(.isDocumented | not)) | length) without a doc comment",
        (.[] | "\(.path) | \(.kind) | \(.text)")' "$new/$module.json" >"$new/$module.txt"
done
[ "$mode" != undocumented ] || exit 0

undocumented() { sed -n '1s/.* members, \([0-9]*\) without.*/\1/p' "$1" 2>/dev/null || echo 0; }
for file in "$api"/*.txt "$new"/*.txt; do
    name=$(basename "$file")
    if [ ! -e "$new/$name" ] && [ "$mode" = write ]; then rm "$file"; fi
    [ -e "$new/$name" ] || continue
    if [ "$(undocumented "$new/$name")" -gt "$(undocumented "$api/$name")" ]; then
        echo "api: error: $name: more public declarations without a doc comment; list them with: Scripts/api.sh undocumented ${2:-}" >&2
        failed=1
    fi
done
[ $failed -eq 0 ] || exit 1

if [ "$mode" = write ]; then
    cp "$new"/*.txt "$api/"
    grep -h -m 1 '' "$api"/*.txt /dev/null | paste -d ' ' <(basename -s .txt "$api"/*.txt) -
elif [ -z "$version" ] || [ ! -e "$api/PintleURLSession.txt" ]; then
    echo "api: error: no version of Swift, or no dump in $api to compare with; run: make api" >&2
    exit 1
elif [ -n "${PINTLE_API_OPTIONAL:-}" ] && ! grep -q "^# Swift $version:" "$api/PintleURLSession.txt"; then
    echo "api: not compared, because $api was written by another version of Swift"
elif ! diff -r -x Apple -x '*.json' -u "$api" "$new"; then
    echo "api: error: the public API differs from $api; if you intend that, run: make api" >&2
    exit 1
fi
