#!/usr/bin/env bash
# Proves that the sources for Apple's systems use no API newer than the deployment targets, as far as availability.txt lists
# that API. A use is allowed in "#if" for other systems, behind @available or #available of the version, and in a line that
# ends in "// lint: <why>". Prints all other uses. First it checks itself with availability-planted.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uses() { # files -> file:line:code
    awk '
        FILENAME == ARGV[1] {
            if ($0 ~ /^#/ || !NF) next
            entries++; since[entries] = $1 + 0
            declaration[entries] = $0; sub(/.* :: /, "", declaration[entries])
            pattern[entries] = $0; sub(/^[^ ]+ /, "", pattern[entries]); sub(/ :: .*/, "", pattern[entries])
            gsub(/\\b/, "(^|$|[^A-Za-z0-9_])", pattern[entries]) # some awks have no \b
            next
        }
        FNR == 1 { ifs = depth = regions = pending = 0; isOther[0] = 0 }
        # isOther: only other systems compile this branch. others: only they compile the branches after it.
        /^ *#if / {
            ifs++
            others[ifs] = $2 ~ /^(PINTLE_APPLE|canImport\(Darwin\)|canImport\(Security\)|os\((iOS|macOS)\))$/
            isOther[ifs] = isOther[ifs - 1] || $2 ~ /^!(PINTLE_APPLE|canImport\(Darwin\))$|^(os\(Linux\)|canImport\((Glibc|Musl|FoundationNetworking)\))$/
            next
        }
        /^ *#else/ { isOther[ifs] = isOther[ifs - 1] || others[ifs]; next }
        /^ *#endif/ { ifs--; next }
        isOther[ifs] || /^ *\/\/|\/\/ lint: / { next }
        {
            line = $0; gsub(/"[^"]*"/, "\"\"", line)
            if (match(line, /(@|#)available\(.*iOS [0-9.]+/)) {
                pending = substr(line, RSTART, RLENGTH); sub(/.*iOS /, "", pending); pending += 0
                if (line ~ /guard #available/) { region[++regions] = depth - 1; allowed[regions] = pending; pending = 0 }
            }
            opened = gsub(/{/, "{", line); closed = gsub(/}/, "}", line)
            if (line ~ /^ *}/) { depth--; closed--; while (regions && depth <= region[regions]) regions-- }
            if (pending && opened) { region[++regions] = depth; allowed[regions] = pending; pending = 0 }
            known = pending
            for (i = 1; i <= regions; i++) if (allowed[i] > known) known = allowed[i]
            for (i = 1; i <= entries; i++)
                if (since[i] > known && $0 ~ pattern[i])
                    print FILENAME ":" FNR ":" $0 " (" declaration[i] ": iOS " since[i] ")"
            depth += opened - closed
            while (regions && depth <= region[regions]) regions--
        }' Scripts/availability.txt "$@"
}

planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
cp Scripts/availability-planted.txt "$planted"
[ "$(uses "$planted" | cut -d: -f2 | sort -nu | paste -sd' ')" = "$(grep -n '// FOUND' "$planted" | cut -d: -f1 | paste -sd' ')" ] ||
    echo "Scripts/availability-planted.txt:1: the uses that are found are not the marked ones: $(uses "$planted")"

git ls-files -co --exclude-standard -- 'Sources/Pintle/*.swift' 'Sources/Pintle'{Apple,Crypto,Reports,Storage,TestKit,URLSession,Updates}'/*.swift' \
    'Tests/PintleTests/*.swift' 'Examples/App/*.swift' 'Examples/Sources/'{Client,ClientModel,Pinned,Stock}'/*.swift' |
    grep -v '^Sources/[A-Za-z]*/Linux/\|^Sources/PintleURLSession/Shared/TrustReceipt' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done |
    { mapfile -t files && uses "${files[@]}"; }
