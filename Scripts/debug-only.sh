#!/usr/bin/env bash
# Proves that a release lacks the debug anchors: neither the objects nor the module of the core nor the tool contain
# their name. As a control, the objects and the module of the debug build must contain it, so the search would find it.
# Searches the output of `make build` and `make unit`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

complain() { echo "debug-only: $1" >&2 && failed=1; }
knows() { LC_ALL=C grep -a '[dD]ebugAnchors' -- "$@" >/dev/null; } # file...

for configuration in debug release; do
    # The compiled core, and its interface for other modules.
    objects=(.build/$configuration/Pintle.build/*.o)
    module=.build/$configuration/Modules/Pintle.swiftmodule
    [ -e "${objects[0]}" ] && [ -e $module ] || { complain "no $configuration build; run: make build unit" && continue; }
    if [ $configuration = debug ]; then
        knows "${objects[@]}" && knows $module || complain "a debug build lacks the debug anchors, so the search proves nothing"
    else
        knows "${objects[@]}" && complain "the objects of the core contain the debug anchors"
        knows $module && complain "the module of the core offers the debug anchors"
    fi
done
tool=${PINTLE_TOOL:-.build/release/pintle}
[ -x "$tool" ] || complain "no tool; run: make build"
knows "$tool" && complain "the tool contains the debug anchors"

[ $failed -eq 0 ] && echo "debug-only: a debug build has the debug anchors, a release build has no trace of them"
exit $failed
