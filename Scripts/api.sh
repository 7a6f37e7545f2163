#!/usr/bin/env bash
# Shows changes of the public API: API/MODULE.txt has one line for each public declaration (path, kind, text), below a line
# with their numbers. With "Apple" it is about the modules of Apple's systems, with "NIO" about PintleNIO, which only Scripts/nio.sh
# can build; the files are then in API/Apple or API/NIO.
# usage: api.sh symbols [Apple|NIO]       writes the symbol graph of each library product to .build/symbols/MODULE, or symbols-Apple
#        api.sh write [Apple|NIO]         writes the files from the graphs; fails if more declarations lack a doc comment than before
#        api.sh check [Apple|NIO]         fails if the files differ from the graphs
#        api.sh undocumented [Apple|NIO]  lists declarations without a doc comment
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=$1 part=${2:-}
graphs=.build/symbols${2:+-$2}
new=.build/api${2:+-$2}
api=API${2:+/$2}
failed=0

extract() {
    local build=(swift build ${DEBUG_BUILD_OPTIONS:-}) modules maps target
    maps=$(printf -- "-Xcc -fmodule-map-file=$PWD/%s " Sources/C*/module.modulemap)
    local top="PintleRemote PintleResources PintleTestKit" # they depend on all others
    if [ "$part" = NIO ]; then
        top="HTTPClient" modules="PintleNIO"
        build=(swift build --package-path Examples/NIO --scratch-path .build/nio ${PINTLE_MIRRORS:+--config-path "$PINTLE_MIRRORS"})
        maps+=$(printf -- "-Xcc -fmodule-map-file=$PWD/%s " .build/nio/debug/*.build/module.modulemap \
            .build/nio/checkouts/*/Sources/*/include/module.modulemap)
    elif [ "$part" = Apple ]; then
        top="PintleRemote PintleResources TestKitOnApple"
        build=(swift build --package-path Tests/StandIns --scratch-path .build/apple ${DEBUG_BUILD_OPTIONS:-})
        modules="Pintle PintleApple PintleEvents PintlePolicyFile PintleRemote PintleReports PintleResources PintleStorage PintleUpdates PintleURLSession TestKitOnApple"
    else
        # Products whose names begin with an underscore are not for users.
        modules=$(swift package dump-package |
            jq -r '.products[] | select(.type.library) | .name | select((startswith("_") or . == "PintleNIO") | not)')
    fi
    for target in $top; do "${build[@]}" --target "$target" >&2; done
    target=$(swift -print-target-info | jq -r .target.unversionedTriple)
    rm -rf "$graphs"
    # shellcheck disable=SC2016
    printf '%s\n' $modules | xargs -P 2 -I MODULE sh -c 'mkdir -p "$2/MODULE" && exec swift symbolgraph-extract \
        -module-name MODULE -minimum-access-level public -emit-extension-block-symbols -target "$1" -I "$3/Modules" \
        -output-dir "$2/MODULE" $4' sh "$target" "$graphs" "$("${build[@]}" --show-bin-path)" \
        "$maps"
}

# From the symbol graphs of a module to its public declarations, each {path, kind, text, isType, isDocumented}. What the compiler
# derives has no place in a file and is left out; so is an extension, whose members are listed.
declarations='
def declared: select(.location != null and .kind.identifier != "swift.extension" and (.identifier.precise | contains("::SYNTHESIZED::") | not));
def conformances($names): map(select(.kind == "conformsTo"))
    | map({source, name: (.targetFallback // $names[.target] // .target) | split(".") | last})
    | map(select(.name | IN("Copyable", "Escapable", "SendableMetatype") | not))
    | group_by(.source) | map({key: .[0].source, value: (map(.name) | unique | join(", "))}) | from_entries;

(map(.symbols[]) | map({key: .identifier.precise, value: .names.title}) | from_entries) as $names
| (map(.relationships[]) | conformances($names)) as $conformances
| [ .[].symbols[] | declared
    | (.kind.identifier | sub("^swift\\."; "")) as $kind
    | {
        path: (.pathComponents | join(".")),
        kind: $kind,
        isType: ($kind | IN("actor", "class", "enum", "protocol", "struct", "typealias")),
        # An override inherits the doc comment of the declaration that it overrides.
        isDocumented: (.docComment != null or ([.declarationFragments[].spelling] | first == "override")),
        text: (
            (if .accessLevel == "open" then "open " else "" end)
            + ([.declarationFragments[].spelling] | join("") | gsub("\\s+"; " "))
            + ($conformances[.identifier.precise] as $all
                | if $all and ($kind | IN("actor", "class", "enum", "protocol", "struct")) then ": " + $all else "" end)),
      } ]
| unique_by(.path, .kind, .text)'

[ "$mode" != symbols ] || { extract && exit; }

version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
rm -rf "$new" && mkdir -p "$new" "$api"
for symbols in "$graphs"/*/; do
    module=$(basename "$symbols")
    jq -s "$declarations" "$symbols"*.symbols.json >"$new/$module.json"
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
elif dumps=("$api"/*.txt) && { [ -z "$version" ] || [ ${#dumps[@]} -eq 0 ]; }; then
    echo "api: error: no version of Swift, or no dump in $api to compare with; run: make api" >&2
    exit 1
elif [ -n "${PINTLE_API_OPTIONAL:-}" ] && ! grep -q "^# Swift $version:" "${dumps[0]}"; then
    echo "api: not compared, because $api was written by another version of Swift"
elif ! diff -r -x Apple -x NIO -x '*.json' -u "$api" "$new"; then
    echo "api: error: the public API differs from $api; if you intend that, run: make api" >&2
    exit 1
fi
