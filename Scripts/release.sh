#!/usr/bin/env bash
# Makes the files of a release from the current commit: sets the tag vVERSION here, builds the packages twice, and signs their checksums.
# Uploads and pushes nothing, and takes the tag back if a step fails. Packaging/README.md has the steps around it.
# usage: release.sh VERSION KEY    KEY is a file that ssh-keygen -Y sign takes, of a signer in Packaging/allowed_signers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:-} key=${2:-} tag=v${1:-} packages=.build/packages
fail() { echo "release: error: $1" >&2 && exit 1; }

[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] && [ -n "$key" ] || fail "usage: Scripts/release.sh VERSION KEY, such as 0.2.0 ~/.ssh/id_ed25519"
[ "$(git branch --show-current)" = main ] || fail "a release is made from the branch main"
[ -z "$(git status --porcelain)" ] || fail "commit or discard your changes first"
[ -z "$(git tag --list "$tag")" ] || fail "the tag $tag exists"
grep -q "static let version = \"$version\"" Sources/PintleConsole/CommandLineTool.swift ||
    fail "Sources/PintleConsole/CommandLineTool.swift has another version"
grep -q "from: \"$version\")" README.md || fail "the dependency in README.md has another version"
section=$(sed -n "/^## $version - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\$/,/^## /{/^## /!p}" CHANGELOG.md)
[ "$(sed -n 's/^## \([^ ]*\).*/\1/p' CHANGELOG.md | head -1)" = "$version" ] && grep -q '^- ' <<<"$section" ||
    fail "CHANGELOG.md must begin with the section \"## $version - DATE\" and its changes"
! grep -q 'in the making' <<<"$section" || fail "CHANGELOG.md must say what $version is, not that it is in the making"
address=$(Packaging/address.sh)
[ -n "$address" ] && ! grep -q 'pintle\.example' README.md SECURITY.md ||
    fail "pintle.example in README.md or SECURITY.md is a placeholder: put the address of the repository there"
! grep -q '^Maintainer: .*\.example>$' Packaging/control.in || fail "Packaging/control.in needs the address of a maintainer"
public=$({ grep -E '^(ssh|ecdsa|sk)-' "$key" || ssh-keygen -y -f "$key"; } | cut -d' ' -f1,2) || fail "$key is not a key of ssh-keygen"
signer=$(grep -F "$public" Packaging/allowed_signers | cut -d' ' -f1) || fail "$key is the key of no signer in Packaging/allowed_signers"

make ci || fail "make ci failed"
[ -z "$(git status --porcelain)" ] || fail "make ci has changed files"
git tag -a --cleanup=verbatim -m "Pintle $version
$section" "$tag"
trap 'git tag -d "$tag" >/dev/null; rm -rf $packages' EXIT
make deb reproduce
ssh-keygen -q -Y sign -f "$key" -n pintle-release $packages/SHA256SUMS
ssh-keygen -q -Y verify -f Packaging/allowed_signers -I "$signer" -n pintle-release -s $packages/SHA256SUMS.sig <$packages/SHA256SUMS
trap - EXIT
cat <<END
release: the tag $tag is set, and $packages has the packages, SHA256SUMS and its signature. Next:
  git push $address main $tag
  upload $packages/* beside the tag
END
