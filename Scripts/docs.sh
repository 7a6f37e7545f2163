#!/usr/bin/env bash
# Makes the documentation one site of static files, .build/docs/site, and proves that its links hold. Each catalogue in Sources
# is converted twice: by itself, then with the others as dependencies, because only then do links into other modules resolve.
# In the second pass warnings are errors, so a link to a symbol or an article that was renamed fails. Then every link of the
# site must lead to a file. Uses the symbol graphs of `make api-check`. To look at it: python3 -m http.server -d .build/docs/site 8000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
swift=$(command -v swift)
docc=$(dirname "$(readlink -f "$swift")")/docc
[ -x "$docc" ] || docc=$(dirname "$swift")/docc
[ -x "$docc" ] || docc=$(command -v docc) || { echo "docs: error: no docc beside $swift" >&2; exit 1; }

# Hands each member from an extension to the extended type, which another module has, so that the page of that type shows it.
extensions='
(.relationships | map(select(.kind == "extensionTo") | {key: .source, value: .target}) | from_entries) as $types
| .symbols |= map(select(.kind.identifier != "swift.extension"))
| .relationships |= map(select(.kind != "extensionTo") | .source = ($types[.source] // .source) | .target = ($types[.target] // .target))'

export docc out=.build/docs
modules=$(basename -s .docc Sources/*/*.docc)
rm -rf $out
for module in $modules; do
    mkdir -p "$out/symbols/$module"
    # A module without public symbols gets an empty graph, or no link from elsewhere could lead to its articles.
    [ -d ".build/symbols/$module" ] || jq --arg name "$module" '.symbols = [] | .relationships = [] | .module.name = $name' \
        .build/symbols/Pintle/Pintle.symbols.json >"$out/symbols/$module/$module.symbols.json"
done
for graph in .build/symbols/*/*.json .build/symbols-Apple/PintleApple/*.json; do # MODULE.symbols.json or MODULE@EXTENDED.symbols.json
    name=$(basename -s .symbols.json "$graph")
    if [ -d "$out/symbols/${name#*@}" ]; then
        jq "$extensions" "$graph" >"$out/symbols/${name#*@}/$name.symbols.json"
    else
        cp "$graph" "$out/symbols/${name%@*}"
    fi
done

convert() { # module, folder of the archives
    local dependencies=() archive
    if [ "$2" = $out ]; then
        dependencies=(--warnings-as-errors)
        for archive in "$out"/first/*.doccarchive; do
            [ "$archive" = "$out/first/$1.doccarchive" ] || dependencies+=(--dependency "$archive")
        done
    fi
    mkdir -p "$2"
    "$docc" convert "Sources/$1/$1.docc" --additional-symbol-graph-dir "$out/symbols/$1" --output-path "$2/$1.doccarchive" \
        --fallback-display-name "$1" --fallback-bundle-identifier "org.pintle.$1" \
        --enable-experimental-external-link-support "${dependencies[@]}" >"$2/$1.log" 2>&1 || { cat "$2/$1.log" >&2; exit 1; }
}
export -f convert
for folder in $out/first $out; do xargs -P 2 -I MODULE bash -c "convert MODULE $folder" <<<"$modules"; done

"$docc" merge $out/*.doccarchive --output-path $out/site --synthesized-landing-page-name Pintle \
    --synthesized-landing-page-topics-style list
"$docc" process-archive transform-for-static-hosting $out/site
Scripts/site.py $out/site
dead=$(find $out/site/data -name '*.json' -exec jq -r '.references[]? | .url?, .variants[]?.url | strings' {} + | grep '^/' |
    sed 's/#.*//' | sort -u | while read -r url; do [ -f "$out/site$url" ] || [ -f "$out/site$url/index.html" ] || echo "$url"; done)
[ -z "$dead" ] || { printf 'docs: error: these links lead nowhere:\n%s\n' "$dead" >&2; exit 1; }
echo "docs: $(find $out/site/documentation -name index.html | wc -l) pages in $out/site"
