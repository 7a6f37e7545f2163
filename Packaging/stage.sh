#!/usr/bin/env bash
# Installs the tool without its debug information, its manual pages and its completions under a folder such as /usr/local.
# usage: stage.sh TOOL FOLDER [FOLDER OF ZSH'S COMPLETIONS IN FOLDER/share]
set -euo pipefail
tool=$1 bin=$2/bin share=$2/share zsh=${3:-zsh/site-functions}

install -D -m 755 "$tool" "$bin/pintle"
if command -v strip >/dev/null; then
    strip --strip-all --remove-section=.comment --remove-section=.note "$bin/pintle"
fi

complete() { # shell, file
    "$tool" --generate-completion-script "$1" | install -D -m 644 /dev/stdin "$share/$2"
}
complete bash bash-completion/completions/pintle
complete zsh "$zsh/_pintle"
complete fish fish/vendor_completions.d/pintle.fish

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
"$tool" --generate-reference man "$pages"
install -d "$share/man/man1"
install -m 644 "$pages"/*.1 "$share/man/man1"
