#!/usr/bin/env bash
# Proves that a package outside can do with the products what the documentation says: builds Examples, which
# depends on this package by path, and runs its programs. They compare and end with 1 where something differs.
# It builds beside Tests/LinkageTest, which needs the same libraries: they are compiled once for both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
touch Examples/Package.swift # or SwiftPM overlooks files that came or went in the package beside it
# The plan of the other package must not pass for that of this one: after two builds of the other it did, and nothing
# was built.
build=(swift build --package-path Examples --scratch-path Tests/LinkageTest/.build -c release --disable-build-manifest-caching)
"${build[@]}"
programs=$("${build[@]}" --show-bin-path)
echo "== every style of task"
"$programs/EveryStyle"
echo "== threads, descriptors and memory"
"$programs/Endurance" "${PINTLE_MEBIBYTES:-1024}"
