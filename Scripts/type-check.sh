#!/usr/bin/env bash
# Type-checks the fuzz targets and the benchmarks against the modules that the tests were built with. Only `make fuzz`,
# `make nightly` and `make bench` compile them, so a change of a name would be seen late.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
maps=$PWD/.build/type-check
mkdir -p "$maps"
for include in Benchmarks/Sources/C*/include; do
    name=$(basename "$(dirname "$include")")
    echo "module $name { umbrella \"$PWD/$include\" export * }" >"$maps/$name.modulemap"
done
options=(-swift-version 6 -warnings-as-errors -enable-testing -I .build/debug/Modules -I "$maps")
for map in Sources/C*/module.modulemap "$maps"/*.modulemap; do options+=(-Xcc "-fmodule-map-file=$map"); done

# The claims that several fuzz targets share are a module of their own.
swiftc "${options[@]}" -emit-module -module-name ForeignClaims -o "$maps/ForeignClaims.swiftmodule" Fuzz/Claims/*.swift
for folder in Fuzz/Sources/* Benchmarks/Sources/*Bench; do
    mapfile -t files < <(find "$folder" -name '*.swift')
    swiftc "${options[@]}" -typecheck -module-name "$(basename "$folder")" "${files[@]}"
done
echo "type-check: fuzz targets and benchmarks compile"
