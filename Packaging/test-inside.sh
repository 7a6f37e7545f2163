#!/usr/bin/env bash
# Proves that an installed package works: the tool, its demo, manual pages and completions, and the tarball at another place.
# Packaging/test.sh runs it in a fresh root. usage: test-inside.sh TOOL VERSION
set -euo pipefail
tool=$1 version=$2
claim() { # sentence, expected, actual
    [ "$2" = "$3" ] || { echo "package-test: error: not so: $1: expected $2, got $3" >&2 && exit 1; }
    echo "package-test: $1"
}

claim "pintle --version prints the version of the package" "$version" "$("$tool" --version)"
"$tool" demo >demo.txt
cat demo.txt
claim "the demo rejects the interceptor that the machine trusts" 1 "$(grep -c 'REJECTED  pin-mismatch  .* 0 request bytes' demo.txt)"

for page in pintle $("$tool" help | sed -n '/^COMMANDS/,/^$/s/^  \([a-z]*\) .*/pintle-\1/p'); do
    man --warnings "$page" >page.txt 2>warnings.txt
    claim "man formats $page without a warning" "" "$(grep -q '^EXIT STATUS' page.txt || echo 'no EXIT STATUS'; cat warnings.txt)"
done
claim "man finds each page" pintle-check "$(basename "$(man -w pintle-check)" .1.gz)"

claim "bash completes an option" --policy "$(bash -c '
    . /usr/share/bash-completion/bash_completion
    _completion_loader pintle || true
    COMP_WORDS=(pintle check --po) COMP_CWORD=2
    _pintle && echo "${COMPREPLY[@]}"')"
claim "fish completes an option" --policy "$(fish -c 'complete -C "pintle check --po"' | cut -f1)"
claim "zsh has a completion" _pintle "$(zsh -fc 'autoload -Uz compinit && compinit -u && echo $_comps[pintle]')"

mkdir 'other place'
tar -C 'other place' -xf /tmp/tarball.tar.xz
moved=$(echo "$PWD/other place"/pintle-*)
claim "the tool of the tarball runs at another place" "$version" "$("$moved/bin/pintle" --version)"
claim "the tarball has the same tool" "$(sha256sum <"$(command -v pintle)")" "$(sha256sum <"$moved/bin/pintle")"
claim "the recipe for zsh in the tarball's README works" _pintle "$(cd "$moved" &&
    zsh -fc "$(grep '^ *fpath=' README | sed 's/compinit  .*/compinit -u/'); echo \$_comps[pintle]")"
claim "man finds the pages of the tarball" "$moved/share/man/man1/pintle.1" "$(PATH=$moved/bin:$PATH man -w pintle)"
