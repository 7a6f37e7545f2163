#!/usr/bin/env bash
# Proves the first law in the source: the core imports only its hash, FoundationEssentials and a lock, and
# no module that the tool links imports all of Foundation. Prints each import that breaks the law.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

imports() { # pathspec... -> file:line:module, without the stand-in for FoundationEssentials in #else
    local file
    git ls-files -co --exclude-standard -- "$@" | while read -r file; do
        [ ! -e "$file" ] || awk -v file="$file" '
            /^#if canImport\(FoundationEssentials\)$/ { standin = 1 }
            /^#if canImport\(Darwin\) .. !canImport\(FoundationEssentials\)$/ { otherwise = standin = 1 }
            /^#endif/ { standin = 0; otherwise = 0 }
            /^#else$/ { otherwise = standin }
            /^ *([a-z@_]+(\([a-zA-Z]+\))? +)*import / {
                module = $NF; sub(/\..*/, "", module)
                if (!(otherwise && module == "Foundation")) print file ":" NR ":" module
            }' "$file"
    done
}

imports 'Sources/Pintle/*.swift' | grep -vE ':(PintleCrypto|FoundationEssentials|Synchronization)$' || true
imports 'Sources/PintleCrypto/*.swift' | grep -vE ':(COpenSSL|CryptoKit)$' || true
# On Apple's systems Foundation is the system's own, and URLSession lives in it.
imports 'Sources/*.swift' ':!Sources/PintleApple' ':!Sources/PintleURLSession' ':!Sources/PintleTestKit/Apple' ':!Sources/Pintle/' |
    grep -E ':(Foundation|FoundationNetworking|FoundationXML)$' || true
