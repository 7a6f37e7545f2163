#!/usr/bin/env bash
# Prepares a release: sets the version of the tool, dates the section of the CHANGELOG, and writes the text of the tag to
# .build/tag-VERSION.txt. Changes files only; it prints the commands that commit, tag and build. usage: release.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:-} source=Sources/PintleTools/Tool/CommandLineTool.swift text=.build/tag-${1:-}.txt
fail() { echo "release: error: $1" >&2 && exit 1; }

[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] || fail "usage: Scripts/release.sh VERSION, such as 0.2.0"
[ -z "$(git status --porcelain)" ] || fail "commit or discard your changes first"
[ -z "$(git tag --list "v$version")" ] || fail "the tag v$version exists"
grep -q '^Homepage: https://' Packaging/control.in || fail "Packaging/control.in needs a line Homepage: https://..."
! grep -q '^Maintainer: .*\.example>$' Packaging/control.in || fail "Packaging/control.in needs the address of a maintainer"
newest=$(sed -n 's/^## \([0-9][0-9.]*\) .*/\1/p' CHANGELOG.md | head -1)
[ "$(printf '%s\n' "${newest:-0}" "$version" | sort -V | tail -1)" = "$version" ] && [ "$newest" != "$version" ] ||
    fail "$version is not newer than $newest, the newest version in CHANGELOG.md"
section=$(sed -n '/^## Unreleased$/,/^## [^U]/{/^## /!p}' CHANGELOG.md)
! grep -q 'The first version is in the making' <<<"$section" || fail "CHANGELOG.md must say what the first version is"
grep -q '^- ' <<<"$section" || fail "CHANGELOG.md has no change under Unreleased"

sed -i "s/static let version = \".*\"/static let version = \"$version\"/" "$source"
grep -q "static let version = \"$version\"" "$source" || fail "no version in $source"
sed -i "s/^## Unreleased\$/## Unreleased\n\n## $version - $(date -u +%F)/" CHANGELOG.md
mkdir -p .build
printf 'Pintle %s\n%s\n' "$version" "$section" | cat -s >"$text"
cat <<END
release: $source and CHANGELOG.md have version $version. The text of the tag is in $text. Next:
  make reference ci                              # pages and tests that have the version
  git commit -am 'Release $version'
  git tag -s --cleanup=verbatim -F $text v$version
  make deb reproduce package-test                # .build/packages: upload everything in it
  README.md: replace "There is no release yet" by a download line
END
