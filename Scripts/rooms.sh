#!/usr/bin/env bash
# Checks that the folders of a module have no circular dependencies: prints each folder with the folders whose top-level
# types it names (the number of uses in brackets), and fails on a cycle. Private types, comments and strings do not count.
# Files outside the folders of a module are the folder "."; folders in Linux count separately. usage: rooms.sh [MODULE]...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

edges() { # module; prints "folder" for each, and "folder other number" for each use
    git ls-files -co --exclude-standard -- "Sources/$1/*.swift" | while IFS= read -r file; do
        [ ! -e "$file" ] || echo "$file"
    done | awk -v root="Sources/$1/" '
        function room(file,   parts, count) {
            count = split(substr(file, length(root) + 1), parts, "/")
            return count == 1 ? "." : parts[1] == "Linux" && count > 2 ? parts[1] "/" parts[2] : parts[1]
        }
        {
            here = rooms[$0] = room($0)
            while ((getline line < $0) > 0) {
                sub(/ *\/\/.*/, "", line)
                gsub(/"[^"\\]*(\\.[^"\\]*)*"/, "", line)
                text[$0] = text[$0] " " line
                kind = "(struct|class|enum|actor|protocol|typealias) "
                if (line !~ "^([a-z@][a-z@(,)]* )*" kind "[A-Z]" || line ~ /private/) continue
                sub("^.*" kind, "", line)
                match(line, /^[A-Za-z0-9_]+/)
                name = substr(line, 1, RLENGTH)
                place = !(name in home) || home[name] == here ? here : "?"
                home[name] = place
            }
            close($0)
        }
        END {
            for (file in rooms) {
                here = rooms[file]
                print here
                count = split(text[file], words, /[^A-Za-z0-9_]+/)
                for (i = 1; i <= count; i++)
                    if (words[i] in home && home[words[i]] != "?" && home[words[i]] != here) uses[here " " home[words[i]]]++
            }
            for (pair in uses) print pair, uses[pair]
        }' | sort -u
}

failed=0
for module in ${*:-$(ls Sources)}; do
    list=$(edges "$module")
    [ "$(grep -vc ' ' <<<"$list")" -gt 1 ] || continue
    echo "$module"
    awk 'NF == 1 { order[++n] = $1 } NF == 3 { used[$1] = used[$1] " " $2 "(" $3 ")" }
        END { for (i = 1; i <= n; i++) print "  " order[i] " ->" (order[i] in used ? used[order[i]] : " nothing") }' <<<"$list"
    # tsort prints the members of a cycle to its error output.
    circle=$(awk 'NF == 3 { print $1, $2 }' <<<"$list" | tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([^ ]*\)$/\1/p' | sort -u) || true
    [ -z "$circle" ] || { echo "  a cycle: ${circle//$'\n'/ }" && failed=1; }
done
exit $failed
