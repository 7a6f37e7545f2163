#!/usr/bin/env bash
# Proves that the core and its hash compile for the oldest of Apple's systems, as far as Linux can show it: compiles with
# the deployment target of Package.swift against the standard library's own interface, whose @available marks are the same
# for all systems. Foundation and CryptoKit are stand-ins. Nothing is linked, but the script reads the objects' symbols: with
# a strong symbol of Span an app would not start before iOS 26. The five platforms change together, so that one is enough.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/.*\.iOS(\.v\([0-9]*\)).*/\1/p' Package.swift)
folder=$PWD/.build/oldest-apple/ios$version
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
target=(-target "arm64-apple-ios$version.0" -I "$folder" -resource-dir "$toolchain/lib/swift"
    -module-cache-path "$folder/cache")
mkdir -p "$folder"

standard() { # module -> its binary module for the target
    local interface source=$folder/$1.swiftinterface
    interface=$(find "$toolchain/lib" -path "*linux/$1.swiftmodule/$(uname -m)-*.swiftinterface" \
        ! -name '*.private.*' | head -1)
    # On Linux the interface lacks the bodies of back-deployed functions, and a function of its shims uses 80-bit floats.
    sed -E -e '/^ *@backDeployed/d' -e "s/-target [^ ]+/-target arm64-apple-ios$version.0/; s/ -static / /" \
        -e 's/self = _stdlib_(remainder|squareRoot)l\(self(, other)?\)/self = 0/' "$interface" >"$source"
    swiftc -frontend -compile-module-from-interface "$source" "${target[@]}" -module-name "$1" -disable-objc-interop \
        -suppress-warnings -disable-availability-checking $([ "$1" != Swift ] || echo -parse-stdlib) \
        -o "$folder/$1.swiftmodule" 2>"$folder/$1.log"
}

if [ "$(cat "$folder/toolchain" 2>/dev/null)" != "$(swiftc --version 2>&1)" ]; then
    for module in Swift _Concurrency _StringProcessing SwiftOnoneSupport; do
        standard "$module" || { echo "oldest-apple: skipped, this toolchain's $module cannot be read: $folder/$module.log"; exit; }
    done
    swiftc --version >"$folder/toolchain" 2>&1
fi

compile() { # module, source...
    swiftc "${target[@]}" -Xfrontend -disable-objc-interop -swift-version 6 -parse-as-library -wmo \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility \
        -warnings-as-errors -D PINTLE_APPLE -package-name pintle -module-name "$1" \
        -emit-module -emit-module-path "$folder/$1.swiftmodule" -c -o "$folder/$1.o" "${@:2}"
}

for module in Foundation CryptoKit; do compile $module Tests/StandIns/OldestSystem/$module.swift; done
compile PintleCrypto Sources/PintleCrypto/*.swift
mapfile -t core < <(find Sources/Pintle -name '*.swift')
compile Pintle "${core[@]}"
# Matches "s4Span", "s7RawSpan" and similar types of the standard library, but not arguments of our functions.
symbols=$("$toolchain/bin/llvm-nm" -u "$folder/Pintle.o" "$folder/PintleCrypto.o" | grep -E '\$ss[0-9]+(Mutable|Output)?(Raw)?Span' || true)
[ -z "$symbols" ] || { echo "oldest-apple: symbols that older systems lack: $symbols" >&2; exit 1; }
echo "oldest-apple: the core compiles for iOS $version, and links no symbol of Span"
