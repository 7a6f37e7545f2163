#!/bin/sh
# Publishes the newest of updates/N.json as updates/latest.json in FOLDER, if the app would accept it.
# usage: publish.sh FOLDER        run it in the folder of policy-shipped.json, trusted/*.pub and updates/
set -eu
folder=${1:?usage: publish.sh FOLDER}
threshold=${THRESHOLD:-2}
newest=$(ls updates | sed -n 's/^\([0-9][0-9]*\)\.json$/\1/p' | sort -n | tail -n 1)
[ -n "$newest" ] || { echo "publish: no updates/N.json" >&2; exit 1; }

set --
for key in trusted/*.pub; do set -- "$@" --trusted "$key"; done
pintle verify "$@" --threshold "$threshold" --bundled policy-shipped.json "updates/$newest.json" --json >verdict.json ||
    { cat verdict.json >&2; exit 1; }
# The number in the file name must be the signed version.
grep -q "\"version\": $newest,\$" verdict.json || { echo "publish: $newest.json is another version" >&2; exit 1; }

mkdir -p "$folder/updates"
for file in updates/*.json; do
    name=$(basename "$file")
    if [ -e "$folder/updates/$name" ]; then
        cmp -s "$file" "$folder/updates/$name" || { echo "publish: $name was published with other bytes" >&2; exit 1; }
    else
        cp "$file" "$folder/updates/$name.new" && mv "$folder/updates/$name.new" "$folder/updates/$name"
    fi
done
cp "updates/$newest.json" "$folder/updates/latest.json.new"
mv "$folder/updates/latest.json.new" "$folder/updates/latest.json"
echo "publish: version $newest"
