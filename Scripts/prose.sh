#!/usr/bin/env bash
# Proves that the prose gets plainer. prose.awk counts words and sentence shapes that are hard to read, in the comments and
# texts of Swift files, the names of tests, the articles and the main pages. Each count must equal the one in
# Scripts/prose.txt. A higher count is a new finding. Write a lower count to that file, so that it stays low.
# usage: prose.sh [-v | -w]    prints the counts; -v prints each place; -w writes the counts that fell to Scripts/prose.txt
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
committed=Scripts/prose.txt

places() {
    git ls-files -co --exclude-standard -- '*.swift' 'Sources/*.docc/*.md' '*README.md' CONTRIBUTING.md CHANGELOG.md |
        while read -r file; do [ ! -e "$file" ] || echo "$file"; done | xargs awk -f Scripts/prose.awk
}

[ "${1:-}" != -v ] || { places; exit; }
counts=$(places | awk '
    BEGIN { split("alone anew anybody doc-opening likewise long-cell long-sentence nobody somebody told-of whoever", kinds, " ") }
    { count[substr($2, 1, length($2) - 1)]++ }
    END { for (i = 1; i in kinds; i++) print kinds[i], count[kinds[i]] + 0 }')
failed=0
while read -r kind count allowed; do
    if [ "$count" -gt "$allowed" ]; then
        echo "prose: $kind: $count, and $committed allows $allowed; Scripts/prose.sh -v shows each" >&2
        failed=1
    elif [ "$count" -lt "$allowed" ] && [ "${1:-}" != -w ]; then
        echo "prose: $kind: $count, fewer than the $allowed of $committed: lower it there, or run Scripts/prose.sh -w" >&2
        failed=1
    fi
    lower+="$kind $((count < allowed ? count : allowed))"$'\n'
done < <(awk 'NR == FNR { allowed[$1] = $2; next } { print $1, $2, allowed[$1] + 0 }' "$committed" - <<<"$counts")
[ "${1:-}" != -w ] || printf %s "$lower" >"$committed"
echo "$counts"
# The written articles and README, without generated pages and tables: 27,000 words, and 1,800 each.
git ls-files -- README.md 'Sources/*.docc/*.md' ':!*/Command*.md' | while read -r file; do
    echo "$(sed '/<!-- Written by /,/<!-- Until here -->/d' "$file" | wc -w) $file"
done | awk -v total=27000 -v each=1800 '
    function check(words, name, most) {
        if (words > most) { print "prose: " name ": " words " words; cut or say it once" >"/dev/stderr"; failed = 1 }
    }
    { check($1, $2, each); sum += $1 }
    END { check(sum, "all articles", total); print "words " sum; exit failed }' || failed=1
exit $failed
