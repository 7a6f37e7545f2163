#!/usr/bin/env bash
# Prints the version of the package and the time of its files, seconds since 1970: "0.2.0-1 1795425130" for the commit of the
# tag v0.2.0. A commit before the tag gives "0.2.0~git20261123101530.398dfc4-1", which is older than the release, and a commit
# after it "0.2.0+git...". Uncommitted changes add "+local". Sources without git are "0.2.0~archive-1".
# usage: version.sh VERSION OF THE TOOL
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$1
if [ -e .git ]; then
    # Git says itself why it fails, for example because the folder belongs to another user.
    commit=$(git rev-parse HEAD)
    time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    changes=$(git status --porcelain)
    stamp=git$(date -u -d "@$time" +%Y%m%d%H%M%S).${commit:0:7}
    if ! git tag --points-at HEAD | grep -Fx "v$version" >/dev/null; then
        if git tag --merged HEAD | grep -Fx "v$version" >/dev/null; then version+="+$stamp"; else version+="~$stamp"; fi
    fi
    [ -z "$changes" ] || version+="+local"
else
    time=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
    version+="~archive"
fi
echo "$version-1 $time"
