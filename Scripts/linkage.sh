#!/usr/bin/env bash
# Proves the first law in the binaries: a program with only the core, the updates or the reports loads libcrypto, but
# neither Foundation, libssl nor libcurl. The tool loads neither Foundation nor libcurl. As a control, a program that
# validates paths must load libssl, so the search would find it. Indirectly loaded libraries count too.
# A program with a pinned session loads exactly one libcurl, libssl and libcrypto.
#
# The programs are built in .build, as the tests are, so that the libraries are not compiled a second time. A debug build
# loads at least the libraries of a release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
touch Tests/LinkageTest/Package.swift # otherwise SwiftPM overlooks files that were added or removed in this package
# Without the option SwiftPM may use the build plan of another package that shares the folder.
swift build --package-path Tests/LinkageTest --scratch-path .build --disable-build-manifest-caching ${DEBUG_BUILD_OPTIONS:-}
programs=.build/debug
failed=0

loads() { ldd "$1" | awk '{ sub(/\.so.*/, "", $1); sub(/.*\//, "", $1); print $1 }'; }
must() { # binary, library...
    for library in "${@:2}"; do
        loads "$1" | grep -x "$library" >/dev/null || { echo "linkage: $1 does not load $library, and must" >&2 && failed=1; }
    done
}
must_not() { # binary, library...
    for library in "${@:2}"; do
        ! loads "$1" | grep -x "$library" >/dev/null || { echo "linkage: $1 loads $library, and must not" >&2 && failed=1; }
    done
}

foundation=(libFoundation libFoundationNetworking libFoundationInternationalization lib_FoundationICU)
core=$programs/CoreOnly
updater=$programs/Updater
reporter=$programs/Reporter
adapter=$programs/Adapter
"$core" >/dev/null
"$updater" >/dev/null
"$reporter" >/dev/null
"$adapter" >/dev/null
must "$core" libswiftCore libcrypto
must_not "$core" "${foundation[@]}" libssl libcurl libpsl
must "$updater" libcrypto
must_not "$updater" "${foundation[@]}" libssl libcurl
must "$reporter" libcrypto
must_not "$reporter" "${foundation[@]}" libssl libcurl
must "$adapter" libcrypto libssl
must_not "$adapter" "${foundation[@]}" libcurl

session=$programs/Session
"$session" >/dev/null
must "$session" libcurl libssl libcrypto libFoundationNetworking
for library in libcurl libssl libcrypto; do
    [ "$(ldd "$session" | grep -c "$library")" -eq 1 ] || { echo "linkage: $session loads more than one $library" >&2 && failed=1; }
done

tool=${PINTLE_TOOL:-.build/release/pintle}
must "$tool" libcrypto libssl
must_not "$tool" "${foundation[@]}" libcurl libFoundationEssentials libswiftCore

[ $failed -eq 0 ] && echo "linkage: the core, the updates and the reports load no Foundation, libssl or libcurl; the tool no Foundation or libcurl; a session has one libcurl"
exit $failed
