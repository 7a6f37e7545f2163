#!/usr/bin/env bash
# Proves that a package outside can do with the products what the documentation says: builds Examples, which
# depends on this package by path, and runs its programs. They compare and end with 1 where something differs.
# They are built in .build, beside the tests, so that the libraries are not compiled a second time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
touch Examples/Package.swift # or SwiftPM overlooks files that came or went in the package beside it
# Without the last option SwiftPM may take the build plan of another package that shares the folder.
build=(swift build --package-path Examples --scratch-path .build --disable-build-manifest-caching)
"${build[@]}"
programs=$("${build[@]}" --show-bin-path)
echo "== every style of task"
"$programs/EveryStyle"
echo "== threads, descriptors and memory"
"$programs/Endurance" "${PINTLE_MEBIBYTES:-1024}"
