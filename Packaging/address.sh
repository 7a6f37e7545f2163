#!/usr/bin/env bash
# Prints the address of the repository. It stands only in README.md, in the dependency of an app. usage: address.sh
set -euo pipefail
sed -n 's/.*\.package(url: "\([^"]*\)", from: .*/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../README.md" | head -1
