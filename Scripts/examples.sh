#!/usr/bin/env bash
# Proves that another package can use the products as documented: builds Examples, which depends on this package
# by path, and runs its programs. They compare results and exit with 1 if one differs.
# Examples are built in .build, as the tests are, so that the libraries are not compiled a second time. A session may keep at most 64 MiB of
# what it carries, so a quarter of a gibibyte shows that its memory is constant.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
touch Examples/Package.swift # otherwise SwiftPM overlooks files that were added or removed in this package
# Without the last option SwiftPM may use the build plan of another package that shares the folder.
build=(swift build --package-path Examples --scratch-path .build --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-})
"${build[@]}"
programs=$("${build[@]}" --show-bin-path)
echo "== every style of task"
"$programs/EveryStyle"
echo "== a client certificate"
if command -v nginx >/dev/null; then
    PINTLE_CLIENT=$programs/ClientCertificate Examples/client-certificates/run.sh
else
    echo "skipped, because there is no nginx"
fi
echo "== threads, descriptors and memory"
"$programs/Endurance" "${PINTLE_MEBIBYTES:-256}"
