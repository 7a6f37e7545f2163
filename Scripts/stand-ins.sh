#!/usr/bin/env bash
# Proves that no stand-in brings the names of another module, unless Apple's module does. Otherwise a source that lacks an
# import compiles here and on no Apple system. Plants files that name a type without the import that brings it; the compiler
# must refuse each of them, and accept its twin, which has the import. Needs the modules of `make apple-build`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=.build/stand-ins
rm -rf "$folder"
mkdir -p "$folder/refused" "$folder/accepted"

plant() { # module, type, the module that brings it
    printf 'import %s\n\nprivate func planted(_ value: %s) {}\n' "$1" "$2" >"$folder/refused/$1-$2.swift"
    sed "2s/^/import $3/" "$folder/refused/$1-$2.swift" >"$folder/accepted/$1-$2.swift"
}

for module in Foundation $(ls Tests/StandIns); do
    case $module in
        *.*|NIO|Repository|TestKitOnApple|URLLoading) continue ;; # not in the place of one of Apple's modules
        # Apple's headers of WebKit include those of Foundation.
        Foundation|WebKit) printf 'import %s\n\nprivate func planted(_ value: URLSession) {}\n' "$module" >"$folder/accepted/$module.swift" ;;
        *) plant "$module" URLSession Foundation ;;
    esac
    [ "$module" = Security ] || plant "$module" SecTrust Security
done

compile() { # file...; with the settings that Tests/StandIns/Package.swift gives the targets of Apple's side
    # shellcheck disable=SC2046
    swiftc -typecheck -wmo -parse-as-library -module-name Planted -I .build/apple/debug/Modules \
        $(printf -- '-Xcc -fmodule-map-file=%s ' Sources/C*/module.modulemap) \
        $(printf -- '-Xfrontend %s ' -enable-cross-import-overlays -swift-module-cross-import Foundation \
            Tests/StandIns/Foundation.swiftcrossimport/_Concurrency.swiftoverlay) "$@" 2>&1
}

compile "$folder"/accepted/*.swift || { echo "stand-ins: an import that is there does not count" >&2; exit 1; }
errors=$(compile "$folder"/refused/*.swift || true)
for file in "$folder"/refused/*.swift; do
    grep -q "^$file:3:.* error: cannot find type '.*' in scope" <<<"$errors" ||
        { echo "stand-ins: $(basename "$file" .swift): compiles without the import, so the stand-in exports too much" >&2; failed=1; }
done
[ -z "${failed:-}" ] || exit 1
echo "stand-ins: the compiler finds $(ls "$folder/refused" | wc -l) planted imports that are missing"
