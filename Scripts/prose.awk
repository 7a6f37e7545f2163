# For prose.sh: prints FILE:LINE: KIND: EXCERPT for each finding in Swift comments and texts, test names and Markdown.
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
file ~ /^Tests/ { # a test's name follows @Test( on the same or the next line
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
END { end() }
