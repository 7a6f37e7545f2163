#!/usr/bin/env bash
# Proves that the documentation matches the code, as far as a script can tell, and prints each difference.
# Swift in the README and in the articles follows a line <!-- snippet: FILE.SLICE --> and equals the lines between
# "// snippet.SLICE" and "// snippet.end" of Snippets/FILE.swift, which every build compiles with the imports that the page prints. Every id of a problem
# that the core reports is in the tool's table. Every id of a problem or a path failure has its own heading, so that a message can
# link to it. Every loss of an export has a row. Every key of a policy file is in its schema. Every fuzz target is in the README.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
catalogue=Sources/Pintle/Pintle.docc
schema=Examples/policy.schema.json
exports=Sources/PintleTools/PintleTools.docc/Exports.md

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

exec 3>&1
listed() { grep . || echo "Scripts/documented.sh: its pattern finds no $1 in the code" >&3; }
heading() { grep -qx "#* $2" "$catalogue/$1" || echo "$catalogue/$1: no heading for $2"; }
table=Sources/PintleTools/Policy/PolicyProblemTable.swift
find Sources/Pintle -name '*.swift' -exec cat {} + | tr -s '\n ' ' ' |
    grep -oE '(id: |id = [^"]*"[a-z-]+" : |report\( ?)"[a-z-]+"( : "[a-z-]+")?' | grep -oE '"[a-z-]+"' | sort -u | listed "reported problems" |
    while read -r id; do grep -qF "error($id" $table || echo "$table: no entry for $id"; done
sed -nE 's/.*(error|warning)\("([a-z0-9-]+)".*/\2/p' $table | listed problems |
    while read -r id; do heading PolicyProblems.md "$id"; done
sed -n '/enum Code/,/^    }/s/.*case \([A-Za-z]*\)\( = "\([a-z-]*\)"\)*$/\1 \3/p' Sources/Pintle/Path/PathFailure.swift | listed "path failures" |
    while read -r name id; do heading Decisions.md "${id:-$name}"; done
sed -nE '/PolicyFileKey \{/,/^    \}/s/^ *case //p' Sources/Pintle/PolicyFile/*.swift | sed 's/schema = //' | tr -d ' "' | tr , '\n' | listed keys |
    while read -r key; do
        grep -qF -e "\`$key\`" -e "\"$key\"" -e "### $key" "$catalogue/PolicyFile.md" || echo "$catalogue/PolicyFile.md: does not name $key"
        jq -e --arg key "$key" '[.. | (strings, (objects | keys[]))] | index($key)' $schema >/dev/null || echo "$schema: lacks $key"
    done
sed -n '/enum Kind/,/^    }/s/.*case \([a-z]*\)\( = "\([a-z-]*\)"\)*$/\1 \3/p' Sources/PintleTools/Export/PolicyLoss.swift | listed losses |
    while read -r name id; do
        grep -q "^| \`${id:-$name}\` |" "$exports" || echo "$exports: no row for ${id:-$name}"
    done
for target in Fuzz/Sources/*/; do
    grep -qw "$(basename "$target")" README.md || echo "README.md: does not name the fuzz target $(basename "$target")"
done
