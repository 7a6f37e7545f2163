#!/usr/bin/env bash
# Loads the results of an audit into ClickHouse, with the name of their folder as the name of the audit. Loading them again changes
# nothing. usage: load.sh FOLDER [OPTION OF clickhouse-client]...
set -euo pipefail
[ -n "${1:-}" ] || { echo "usage: load.sh FOLDER [OPTION OF clickhouse-client]..." >&2 && exit 2; }
folder=$(cd "$1" && pwd)
shift
audit=$(basename "$folder")
case $audit in
*[!A-Za-z0-9._-]*) echo "load.sh: error: rename \"$audit\": only letters, digits, dots, - and _ can name an audit" >&2 && exit 2 ;;
esac
for file in "$folder"/*.ndjson; do
    # Drops what follows the last line break: a result that was not complete when its part was ended.
    { cat "$file" && echo; } | sed -e '$d' -e "s/^{/{\"audit\":\"$audit\",/"
done | clickhouse-client --date_time_input_format best_effort --input_format_skip_unknown_fields 1 "$@" \
    --query "INSERT INTO audits FORMAT JSONEachRow"
