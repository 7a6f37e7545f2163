#!/usr/bin/env bash
# Proves that the documentation matches what stands in other files, and prints each difference. Tests compare it with the code.
# Swift in the README and in the articles follows a line <!-- snippet: FILE.SLICE --> and equals the lines between
# "// snippet.SLICE" and "// snippet.end" of Snippets/FILE.swift, which every build compiles with the imports that the page prints.
# The two programs that show how one line pins a program for URLSession differ in that line, and each diff shows it. Every problem
# that the core reports is in the tool's table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for document in README.md Sources/*/*.docc/*.md; do
    awk -v document="$document" '
        function slice(name,    part, file, line, indent, marker, text, isInside) {
            split(name, part, ".")
            file = "Snippets/" part[1] ".swift"
            while ((getline line < file) > 0) {
                indent = match(line, /[^ ]/) - 1
                marker = substr(line, indent + 1)
                if (marker == "// snippet.end") isInside = 0
                if (isInside) text = text substr(line, isInside) "\n"
                if (marker == "// snippet." part[2]) isInside = indent + 1
            }
            close(file)
            return text
        }
        /^<!-- snippet: [A-Za-z]+\.[A-Za-z]+ -->$/ { name = $3; next }
        /^```swift$/ { isCode = 1; block = ""; place = document ":" NR; next }
        /^```$/ && isCode {
            isCode = 0
            if (name == "") print place ": this Swift is not compiled; name its snippet"
            else if (block != slice(name)) print place ": differs from the snippet " name
            name = ""
            next
        }
        isCode { block = block $0 "\n" }' "$document"
done

# A snippet compiles with the imports of its file. The page prints these, so that its lines compile too. URLLoading is a stand-in.
for document in README.md Sources/*/*.docc/*.md; do
    sed -n 's/^<!-- snippet: \([A-Za-z]*\)\..*/\1/p' "$document" | sort -u | while read -r snippet; do
        sed -n 's/^import //p' "Snippets/$snippet.swift" | grep -v '^URLLoading$' | while read -r module; do
            grep -qE "^import $module\$|\`import $module\`" "$document" || echo "$document: $snippet needs \`import $module\`"
        done
    done
done

change=$(diff Examples/Sources/Stock/main.swift Examples/Sources/Pinned/main.swift | sed -n 's/^< /-/p; s/^> /+/p' || true)
[ "$(wc -l <<<"$change")" -eq 2 ] || echo "Examples/Sources/Pinned/main.swift: differs from Stock in more than one line"
for document in README.md Examples/README.md Sources/*/*.docc/*.md; do
    shown=$(sed -n '/^```diff$/,/^```$/{/^```/!p}' "$document")
    [ -z "$shown" ] || [ "$shown" = "$change" ] || echo "$document: its diff is not that of Examples/Sources"
done

# An id is a literal of the core, which no test can list.
table=Sources/PintlePolicyTools/Lint/LintAllowances.swift
ids=$(find Sources/Pintle -name '*.swift' -exec cat {} + | tr -s '\n ' ' ' |
    grep -oE '(id: |id = [^"]*"[a-z-]+" : |report\( ?)"[a-z-]+"( : "[a-z-]+")?' | grep -oE '"[a-z-]+"' | sort -u) || true
[ -n "$ids" ] || echo "Scripts/documented.sh: its pattern finds no problem in the core"
for id in $ids; do grep -qF -- "$id" $table || echo "$table: no id $id"; done

# The members of URLSession that PinnedURLSession lacks on Apple's systems.
article=Sources/PintleApple/PintleApple.docc/ApplePlatforms.md
lacking=$(sed -n 's/^| \(`.*\) | none | yes |$/\1/p' $article | grep -oE '`[A-Za-z]+`' | tr -d '`') || true
[ -n "$lacking" ] || echo "$article: names no member that PinnedURLSession lacks"
for member in $lacking; do
    ! grep -qE "^PinnedURLSession\.$member( |\()" API/Apple/PintleURLSession.txt || echo "$article: PinnedURLSession has $member"
done
