#!/usr/bin/env bash
# Prints the version of the package and the time of its files, seconds since 1970: "0.2.0-1 1795425130" for the commit of the tag
# v0.2.0. Another commit gives "0.2.0~git20261123.398dfc4-1", which is older than the release. Uncommitted changes add "+local".
# usage: version.sh VERSION OF THE TOOL
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$1
if commit=$(git rev-parse HEAD 2>/dev/null); then
    time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    if ! git tag --points-at HEAD | grep -Fx "v$version" >/dev/null; then
        version+="~git$(date -u -d "@$time" +%Y%m%d).${commit:0:7}"
    fi
    [ -z "$(git status --porcelain)" ] || version+="+local"
else
    time=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
fi
echo "$version-1 $time"
