#!/usr/bin/env bash
# Proves that the documentation holds together: every catalogue in Sources is converted with warnings
# as errors, so a link to a symbol that was renamed fails. Leaves .build/docs/MODULE.doccarchive.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob
catalogues=(Sources/*/*.docc)
[ ${#catalogues[@]} -gt 0 ] || { echo "docs: no catalogue yet"; exit 0; }

swift=$(command -v swift)
docc=$(dirname "$(readlink -f "$swift")")/docc
[ -x "$docc" ] || docc=$(dirname "$swift")/docc
[ -x "$docc" ] || docc=$(command -v docc) || { echo "docs: error: no docc beside $swift" >&2; exit 1; }
Scripts/symbols.sh

for catalogue in "${catalogues[@]}"; do
    module=$(basename "$(dirname "$catalogue")")
    mkdir -p .build/docs ".build/symbols/$module" # no symbols: the tool
    "$docc" convert "$catalogue" --additional-symbol-graph-dir ".build/symbols/$module" \
        --output-path ".build/docs/$module.doccarchive" --fallback-display-name "$module" \
        --fallback-bundle-identifier "org.pintle.$module" --warnings-as-errors
    echo "docs: .build/docs/$module.doccarchive"
done
