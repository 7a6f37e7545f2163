#!/bin/sh
# Loads results of `pintle audit -o` into a database of SQLite. Loading a file again changes nothing. usage: load.sh DATABASE FILE...
set -eu
[ $# -gt 1 ] || { echo "usage: load.sh DATABASE FILE..." >&2 && exit 2; }
database=$1
shift
sqlite3 "$database" < "$(dirname "$0")/schema.sql"
for file; do
    # A line is one column: no result contains the separator of the mode "ascii", a control character.
    cat "$file" | sqlite3 -cmd '.mode ascii' -cmd '.separator "\037" "\n"' "$database" '.import /dev/stdin lines'
done
