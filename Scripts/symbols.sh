#!/usr/bin/env bash
# Writes the symbol graph of each library product's public declarations to .build/symbols/MODULE. The documentation and the
# dump of the API are both built from it. With "apple", writes the modules for Apple's systems to .build/symbols-apple.
# usage: symbols.sh [apple]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=.build/symbols
if [ "${1:-}" = apple ]; then
    export PINTLE_APPLE_STANDINS=1
    build=(swift build --scratch-path .build/apple ${DEBUG_BUILD_OPTIONS:-})
    folder+=-apple
    modules="Pintle PintleApple PintleReports PintleStorage PintleUpdates PintleURLSession TestKitOnApple"
    maps=$(find "$PWD" -path "$PWD/Sources/C*/module.modulemap")
    top=(PintleURLSession TestKitOnApple)
else
    build=(swift build ${DEBUG_BUILD_OPTIONS:-})
    # Products whose names begin with an underscore are not for users.
    # PintleNIO needs packages that are not fetched here.
    modules=$(swift package dump-package |
        jq -r '.products[] | select(.type.library) | .name | select((startswith("_") or . == "PintleNIO") | not)')
    maps=$(find Sources -path 'Sources/C*/module.modulemap')
    # These two depend on all the others.
    top=(PintleURLSession PintleTestKit)
fi
for target in "${top[@]}"; do "${build[@]}" --target "$target" >&2; done
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')

rm -rf "$folder"
# shellcheck disable=SC2016
printf '%s\n' $modules | xargs -P 2 -I MODULE sh -c 'mkdir -p "$2/MODULE" && exec swift symbolgraph-extract \
    -module-name MODULE -minimum-access-level public -emit-extension-block-symbols -target "$1" -I "$3/Modules" -output-dir "$2/MODULE" $4' \
    sh "$target" "$folder" "$("${build[@]}" --show-bin-path)" "$(printf -- '-Xcc -fmodule-map-file=%s ' $maps)"
