#!/usr/bin/env bash
# Proves that another package can use the products as documented: builds Examples, which depends on this package
# by path, and runs its programs. They compare results and exit with 1 if one differs.
# Examples are built in .build, as the tests are, so that the libraries are not compiled a second time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
touch Examples/Package.swift # otherwise SwiftPM overlooks files that were added or removed in this package
# Without the last option SwiftPM may use the build plan of another package that shares the folder.
build=(swift build --package-path Examples --scratch-path .build --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-})
"${build[@]}"
programs=$("${build[@]}" --show-bin-path)
echo "== every style of task"
"$programs/EveryStyle"
echo "== threads, descriptors and memory"
"$programs/Endurance" "${PINTLE_MEBIBYTES:-1024}"
# Only the project's own checks treat warnings as errors. A package that depends on Pintle by path builds it with a later compiler, which
# warns of more. The option stands for such a compiler.
echo "== warnings of a later compiler"
log=.build/later-warnings.log
env -u PINTLE_WARNINGS_AS_ERRORS swift build --package-path Tests/LinkageTest --product CoreOnly \
    --scratch-path .build/later-warnings -Xswiftc -strict-memory-safety >"$log" 2>&1 || { grep -m5 error: "$log" >&2; exit 1; }
echo "$(grep -c warning: "$log") warnings, and no error"
grep -q 'Sources/Pintle/.*warning:' "$log" || { echo "examples: the option causes no warning, so nothing was proven" >&2; exit 1; }
