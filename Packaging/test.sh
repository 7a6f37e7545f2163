#!/usr/bin/env bash
# Proves the package and the tarball in a fresh root of Debian or Ubuntu, which mmdebstrap makes from this machine's apt
# sources: takes the steps of Packaging/Containerfile there, then runs the tool, its manual pages and its completions as a user
# without rights. usage: test.sh [SUITE], by default the suite of this machine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
context=.build/packages
. /etc/os-release
suite=${1:-$VERSION_CODENAME}
fail() { echo "package-test: error: $1" >&2 && exit 1; }
skip() { echo "package-test: skipped: $1" && exit ${PINTLE_REQUIRED:+1}; }
deb=$(echo "$context"/pintle_*.deb)
[ -e "$deb" ] || fail "no package; run: make deb"
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bogus-mail-host "$deb"
else
    echo "package-test: lintian is not installed, so it checks nothing: apt-get install lintian"
fi
[ "$(id -u)" -eq 0 ] || skip "a root directory can only be made by root: sudo Packaging/test.sh"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing: apt-get install mmdebstrap"
work=$(mktemp -d)
root=$work/root
trap 'mountpoint -q "$root/proc" && umount "$root/proc"; rm -rf --one-file-system "$work"' EXIT
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [ ! -s "$file" ] || sed "s/\b$VERSION_CODENAME\b/$suite/g; s/\b$VERSION_CODENAME-/$suite-/g" "$file" >"$work/${file##*/}"
done
apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIP)' >"$work/apt.conf" || true
mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" "$suite" "$root" \
    $(find "$work" -name '*.list' -o -name '*.sources') >"$work/log" 2>&1 ||
    { tail -n 3 "$work/log" >&2 && fail "mmdebstrap cannot make a root of $suite from this machine's apt sources"; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
inside() {
    chroot "$root" /bin/sh -ec "$1" </dev/null >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2 && fail "$1"; }
}

user='' folder=/ entry=''
while read -r instruction text; do
    case $instruction in
    FROM) [[ $text =~ /$ID: ]] || fail "Packaging/Containerfile is for $text, and this package is of $ID" ;;
    COPY) cp "$context"/${text% *} "$root${text##* }" ;;
    RUN) inside "$text" ;;
    USER) user=$text ;;
    WORKDIR) folder=$text ;;
    ENTRYPOINT) entry=$(jq -r .[0] <<<"$text") ;;
    *) fail "$instruction is not known here" ;;
    esac
done < <(sed -e '/^#/d' -e ':a' -e '/\\$/N; s/\\\n//; ta' Packaging/Containerfile)
echo "package-test: $suite: the steps of the Containerfile work"

inside 'apt-get update && apt-get install -y --no-install-recommends bash-completion fish man-db xz-utils zsh'
cp Packaging/test-inside.sh "$root/tmp/" && cp "$context"/pintle-*.tar.xz "$root/tmp/tarball.tar.xz"
version=$(dpkg-deb -f "$deb" Version)
chroot --userspec="$user:$user" "$root" env HOME="$folder" bash -c 'cd && bash /tmp/test-inside.sh "$@"' - "$entry" "${version%%[-~+]*}" </dev/null
inside 'apt-get purge -y pintle'
left=$(find "$root/usr" -path '*pintle*' -not -path '*/mime/*')
[ -z "$left" ] || fail "purging the package leaves $left"
echo "package-test: $suite: everything passed"
