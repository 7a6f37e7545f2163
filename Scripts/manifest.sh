#!/usr/bin/env bash
# Prints SwiftPM's warnings about Package.swift, on each platform that it has targets for: an exclude that names a missing
# file, for example. An app that depends on the package by path gets them in each build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for platform in PINTLE_LINUX PINTLE_APPLE_STANDINS PINTLE_DARWIN_STANDIN; do
    env "$platform=1" swift package --scratch-path .build/manifest describe 2>&1 >/dev/null
done
