#!/usr/bin/env bash
# Packs the tool .build/release/pintle for this distribution and processor: a Debian package, a relocatable tarball, an SBOM in SPDX 2.3
# and SHA256SUMS. The same commit and the same build tools give the same bytes. Fails if the tool or the package is larger
# than promised. usage: build.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
most_tool=19000000 most_package=6000000
tool=$PWD/.build/release/pintle
out=.build/packages
export LC_ALL=C TZ=UTC
umask 022
address=$(Packaging/address.sh)
answer=$(Packaging/version.sh "$("$tool" --version)")
version=${answer% *} && export SOURCE_DATE_EPOCH=${answer#* }
architecture=$(dpkg --print-architecture) && name=pintle_${version}_$architecture
rm -rf "$out" && mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clamp() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# The Debian package.
root=$work/root doc=$work/root/usr/share/doc/pintle
Packaging/stage.sh "$tool" "$root/usr" zsh/vendor-completions
gzip -9n "$root"/usr/share/man/man1/*.1
install -D -m 644 Packaging/copyright "$doc/copyright"
gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
maintainer=$(sed -n 's/^Maintainer: //p' Packaging/control.in)
printf 'pintle (%s) unstable; urgency=medium\n\n  * changelog.gz has the changes of each version.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.Debian.gz"
mkdir "$work/debian" "$root/DEBIAN"
printf 'Source: pintle\n\nPackage: pintle\nArchitecture: any\nDepends: ${shlibs:Depends}\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/pintle" 2>shlibdeps.log) || { cat "$work/shlibdeps.log" >&2 && exit 1; }
depends=${depends#shlibs:Depends=}
# dpkg-shlibdeps overlooks that packed relocations need glibc 2.36.
if readelf -V "$root/usr/bin/pintle" | grep GLIBC_ABI_DT_RELR >/dev/null; then
    depends=$(sed -E 's/libc6 \(>= 2\.(1?[0-9]|2[0-9]|3[0-5])\)/libc6 (>= 2.36)/' <<<"$depends")
fi
size=$(find "$root/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/; s/@DEPENDS@/$depends/; s|@HOMEPAGE@|${address%.git}|" \
    Packaging/control.in >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
clamp "$root"
dpkg-deb -Zxz -z9 -Sextreme --threads-max=1 --root-owner-group --build "$root" "$out/$name.deb" >/dev/null

# The tarball, whose folder may be anywhere.
folder=pintle-$version-linux-$(uname -m)
Packaging/stage.sh "$tool" "$work/$folder"
install -m 644 LICENSE CHANGELOG.md Packaging/copyright "$work/$folder/"
sed "s/@DEPENDS@/$depends/" Packaging/tarball.txt >"$work/$folder/README"
clamp "$work/$folder"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$folder" | xz -9e -T1 >"$out/$folder.tar.xz"

Packaging/sbom.sh "$out/$name.deb" "$root/usr/bin/pintle" >"$out/$name.spdx.json"
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
clamp "$out"

tool_size=$(stat -c %s "$root/usr/bin/pintle") package_size=$(stat -c %s "$out/$name.deb")
echo "packages: $out/$name.deb: $package_size bytes, the tool in it $tool_size bytes"
[ "$tool_size" -le $most_tool ] && [ "$package_size" -le $most_package ] ||
    { echo "packages: error: more than $most_tool bytes of the tool or $most_package of the package" >&2 && exit 1; }
