#!/bin/sh
# Publishes updates/N.json in FOLDER if the app would accept them, and the newest of these as updates/latest.json. Other files stay
# drafts; the script names them and ends with 1.
# usage: publish.sh FOLDER        run it in the folder of policy-shipped.json, trusted/*.pub and updates/
set -eu
folder=${1:?usage: publish.sh FOLDER}
threshold=${THRESHOLD:-2}
numbers=$(ls updates | sed -n 's/^\([0-9][0-9]*\)\.json$/\1/p' | sort -n)
[ -n "$numbers" ] || { echo "publish: no updates/N.json" >&2; exit 1; }

set --
for key in trusted/*.pub; do set -- "$@" --trusted "$key"; done
mkdir -p "$folder/updates"
last='' failed=0
for number in $numbers; do
    file=updates/$number.json
    if [ -e "$folder/$file" ]; then
        cmp -s "$file" "$folder/$file" || { echo "publish: $number.json was published with other bytes" >&2; exit 1; }
        last=$number
        continue
    fi
    pintle verify "$@" --threshold "$threshold" --bundled policy-shipped.json "$file" --json >verdict.json ||
        { cat verdict.json >&2; echo "publish: $file is not published" >&2; failed=1; continue; }
    # The number in the file name must be the signed version.
    grep -q "\"version\": $number,\$" verdict.json || { echo "publish: $number.json is another version" >&2; exit 1; }
    cp "$file" "$folder/$file.new" && mv "$folder/$file.new" "$folder/$file"
    last=$number
done
[ -n "$last" ] || { echo "publish: nothing to publish" >&2; exit 1; }
cp "updates/$last.json" "$folder/updates/latest.json.new"
mv "$folder/updates/latest.json.new" "$folder/updates/latest.json"
echo "publish: version $last"
exit $failed
