#!/usr/bin/env bash
# Proves that what exists for debugging is not in a release: neither the objects nor the module of the core nor the
# tool know the name of the debug anchors. The accepting twin: objects and module of the debug build do, so the look
# would find them. Looks at what `make build` and `make unit` have built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

complain() { echo "debug-only: $1" >&2 && failed=1; }
knows() { LC_ALL=C grep -a '[dD]ebugAnchors' -- "$@" >/dev/null; } # file...

for configuration in debug release; do
    # The core, compiled and as other modules see it.
    objects=(.build/$configuration/Pintle.build/*.o)
    module=.build/$configuration/Modules/Pintle.swiftmodule
    [ -e "${objects[0]}" ] && [ -e $module ] || { complain "no $configuration build; make build unit makes it" && continue; }
    if [ $configuration = debug ]; then
        knows "${objects[@]}" && knows $module || complain "a debug build lacks them: looking proves nothing"
    else
        knows "${objects[@]}" && complain "the objects of the core know the debug anchors"
        knows $module && complain "the module of the core offers the debug anchors"
    fi
done
tool=${PINTLE_TOOL:-.build/release/pintle}
[ -x "$tool" ] || complain "no tool; make build makes it"
knows "$tool" && complain "the tool knows the debug anchors"

[ $failed -eq 0 ] && echo "debug-only: a debug build has the debug anchors, a release build has no trace of them"
exit $failed
