#!/usr/bin/env bash
# Proves that the packages are reproducible: builds the current commit in two folders, with other names, umasks
# and time zones, and compares every byte.
# Prints each difference. With a folder as argument, compares its packages with one more build. usage: reproduce.sh [FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "$(git status --porcelain)" ] || { echo "reproduce: error: commit your changes first; a clone does not have them" >&2 && exit 1; }

build() { # folder, umask, time zone
    (umask "$2" && git clone --quiet . "$1" && git -C "$1" checkout --quiet --detach "$(git rev-parse HEAD)" &&
        env -u PINTLE_TOOL TZ="$3" make -C "$1" deb)
}
first=${1:-}
if [ -z "$first" ]; then
    build "$work/first" 022 UTC
    first=$work/first/.build/packages
fi
build "$work/second/with-a-longer-name" 077 Asia/Tokyo
second="$work/second/with-a-longer-name/.build/packages"
if diff -rq "$first" "$second"; then
    echo "reproduce: both builds have the same bytes:"
    cat "$first/SHA256SUMS"
    exit
fi
for side in "$first" "$second"; do
    files=$work/files-$([ "$side" = "$first" ] && echo 1 || echo 2)
    dpkg-deb -R "$side"/pintle_*.deb "$files"
    readelf -WSs --dyn-syms "$files/usr/bin/pintle" >"$files/usr/bin/pintle.readelf"
    strings -n 6 "$files/usr/bin/pintle" >"$files/usr/bin/pintle.strings"
done
diff -r -U0 "$work/files-1" "$work/files-2" | head -n 200
exit 1
