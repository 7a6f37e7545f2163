#!/usr/bin/env bash
# Proves that the prose gets plainer: counts words and sentence shapes that are hard to read, in the comments and
# texts of Swift files, the names of tests, the articles and the main pages. Each count must equal the one in
# Scripts/prose.txt. A higher count is a new finding. Write a lower count to that file, so that it stays low.
# usage: prose.sh [-v | -w]    prints the counts; -v prints each place; -w writes the counts that fell to Scripts/prose.txt
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
committed=Scripts/prose.txt

# Prints FILE:LINE: KIND: EXCERPT for each finding.
findings='
BEGIN { odd = "^(nobody|whoever|anew|likewise|somebody|anybody)$" }
function found(kind, at, text) { print file ":" at ": " kind ": " text }
function add(text,    part, count, i) { # appends to the paragraph; a code span counts as one word
    gsub(/``[^`]*``|`[^`]*`/, "code", text)
    count = split(text, part, " ")
    for (i = 1; i <= count; i++) { word[++words] = part[i]; place[words] = FNR }
}
function excerpt(from, to,    text) {
    for (from = from < 1 ? 1 : from; from <= to && from <= words; from++) text = text " " word[from]
    return substr(text, 2, 100)
}
function end(isCell,    i, plain, before, start, left) { # of a paragraph, a cell or a name
    if (isCell && words > 15) found("long-cell", place[1], words " words: " excerpt(1, words))
    for (i = start = 1; i <= words; i++) {
        plain = tolower(word[i]); gsub(/^[^a-z]+|\047s$|[^a-z]+$/, "", plain)
        if (plain ~ odd) found(plain, place[i], excerpt(i - 5, i + 5))
        if (plain == "of" && before == "told") found("told-of", place[i], excerpt(i - 5, i + 5))
        if (plain ~ /^(leave|leaves|leaving|left|let|lets)$/) left = i # "leave the method alone" is plain
        if (plain == "alone" && before && !(left && i - left < 6) && before !~ /^(is|are|be|was|were|stands?|make)$/)
            found("alone", place[i], excerpt(i - 5, i + 3))
        before = plain
        if (i < words && word[i] !~ /[.!?]["\047)*_]*$/) continue
        if (!isCell && i - start >= 35) found("long-sentence", place[start], i - start + 1 " words: " excerpt(start, i))
        start = i + 1; before = ""
    }
    words = 0
}
function row(text,    cell, count, i) {
    gsub(/`[^`]*`/, "code", text) # a bar in a code span does not separate cells
    count = split(text, cell, "|")
    for (i = 2; i <= count; i++) { add(cell[i]); end(1) }
}
function line(text) {
    if (text ~ /^ *```/) { end(); isCode = !isCode }
    else if (isCode) return
    else if (text ~ /^ *(#|<!--|\|[-:| ]+$|$)/) end()
    else if (text ~ /^ *\|/) { end(); row(text) }
    else { if (sub(/^ *([-*]|[0-9]+\.) /, "", text)) end(); add(text) }
}
FNR == 1 { end(); isCode = isNext = last = 0; file = FILENAME }
file ~ /\.md$/ { line($0) }
file ~ /^Tests/ { # the name of a test follows @Test( on the same or the next line
    if ((isNext || /@Test\("/) && match($0, /"([^"\\]|\\.)*"/)) { add(substr($0, RSTART + 1, RLENGTH - 2)); end() }
    isNext = /@Test\($/
}
file !~ /\.swift$/ { next }
match($0, /^ *\/\/\/?/) || match($0, /  \/\/ /) {
    marker = substr($0, RSTART, RLENGTH); text = substr($0, RSTART + RLENGTH)
    kind = marker ~ / $/ ? "trailing" : marker ~ /\/\/\// ? "doc" : "plain"
    if (kind == "doc" && last != kind && text ~ /^ *(What|Who|Whether) /) found("doc-opening", FNR, substr(text, 2, 100))
    if (kind != last || kind == "trailing") { end(); isCode = 0 }
    last = kind; line(text); next
}
{ # a text of the program, in one line or several
    end(); last = isCode = 0
    for (i = split(tolower($0), part, /[^a-z]+/); i; i--) if (part[i] ~ odd && !/@Test\(/) found(part[i], FNR, $0)
}
END { end() }'

places() {
    git ls-files -co --exclude-standard -- '*.swift' 'Sources/*.docc/*.md' '*README.md' CONTRIBUTING.md CHANGELOG.md 'Specification/*.md' |
        while read -r file; do [ ! -e "$file" ] || echo "$file"; done | xargs awk "$findings"
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
# The written articles and README, without generated pages and tables: 28,500 words, and 1,800 each.
git ls-files -- README.md 'Sources/*.docc/*.md' ':!*/Command*.md' | while read -r file; do
    echo "$(sed '/<!-- Written by /,/<!-- Until here -->/d' "$file" | wc -w) $file"
done | awk -v total=28500 -v each=1800 '
    function check(words, name, most) {
        if (words > most) { print "prose: " name ": " words " words; cut or say it once" >"/dev/stderr"; failed = 1 }
    }
    { check($1, $2, each); sum += $1 }
    END { check(sum, "all articles", total); print "words " sum; exit failed }' || failed=1
exit $failed
