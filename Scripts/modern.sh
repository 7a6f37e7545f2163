#!/usr/bin/env bash
# Proves that Pintle works with later libraries than this system's: OpenSSL 3.5 LTS, OpenSSL 3.6 and libcurl 8. Two Python
# packages carry them, pinned by their SHA-256. For each OpenSSL the script makes a folder
# for LD_LIBRARY_PATH, and runs the tests, the demo and rehearse with it. A test says what the process has loaded.
# Where the packages cannot be fetched, the script says "skipped", or fails with PINTLE_REQUIRED=1. usage: modern.sh [3.5|3.6]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/.build/modern
tool=${PINTLE_TOOL:-.build/release/pintle}
tests='PintleOpenSSLTests|PintleURLSessionTests|PintleTestKitTests|PintleAttacksTests|PintleToolsTests'
skip() { echo "modern: skipped: $1" && exit ${PINTLE_REQUIRED:+1}; }

[ "$(uname -sm)" = "Linux x86_64" ] || skip "the pinned packages with OpenSSL 3.5 and 3.6 are for Linux on x86_64 only"
python=$(ls .build/venv/bin/python 2>/dev/null || echo python3)
rm -rf "$work" && mkdir -p "$work"
cat >"$work/requirements" <<'END'
psycopg-binary==3.3.9 --hash=sha256:0953c1b94c73f97efce5b8fb1dad85cf5e4085b94902e439e27e6805ebc8be99
pycurl==7.49.0 --hash=sha256:6f88539845d3bb2cf2ce0ccbc1bb8b9ed9e401a0d874798aeabc5f16f0f95c4d
END
$python -m pip download --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20 --require-hashes --no-deps \
    --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 \
    --platform manylinux2014_x86_64 --dest "$work" -r "$work/requirements" 2>"$work/errors" || {
    ! grep "DO NOT MATCH THE HASHES" "$work/errors" >&2 || exit 1
    skip "pip cannot fetch psycopg-binary and pycurl ($(tail -n 1 "$work/errors")); they come from the index that pip uses"
}
for wheel in "$work"/*.whl; do $python -m zipfile -e "$wheel" "$work/$(basename "${wheel%%-*}")"; done

# The packages rename their libraries, and each library names the others so. Links lead from the names that programs and
# libcurl use to the libraries of one OpenSSL. The loader opens a file once, whatever links lead to it.
folder_of() { # folder, package with the OpenSSL
    local library theirs own program
    mkdir -p "$1/bin"
    cp "$work"/pycurl/pycurl.libs/* "$1"
    for library in ssl crypto; do
        theirs=$(cd "$1" && echo lib$library-*.so.3)
        rm "$1/$theirs"
        own=$(cd "$work/$2/$2.libs" && echo lib$library-*.so.3)
        cp "$work/$2/$2.libs/$own" "$1"
        ln -sf "$own" "$1/lib$library.so.3"
        [ "$own" = "$theirs" ] || ln -s "$own" "$1/$theirs"
    done
    ln -s "$(cd "$1" && echo libcurl-*.so.4*)" "$1/libcurl.so.4"
    # The tests' commands curl and ssh-keygen stay the system's; ssh-keygen refuses another OpenSSL than its own. The
    # system's openssl 3.0 crashes with later libraries when it is given -addext.
    for program in curl ssh-keygen; do
        printf '#!/bin/sh\nunset LD_LIBRARY_PATH\nexec %s "$@"\n' "$(command -v $program)" >"$1/bin/$program"
    done
    printf '#!/bin/sh\ncase " $* " in *" -addext "*) unset LD_LIBRARY_PATH ;; esac\nexec %s "$@"\n' \
        "$(command -v openssl)" >"$1/bin/openssl"
    chmod +x "$1"/bin/*
}

# The packages look for openssl.cnf where these systems do not have it.
run() { env PATH="$folder/bin:$PATH" LD_LIBRARY_PATH="$folder" OPENSSL_CONF="$conf" PINTLE_LIBRARIES="$lane 8." "$@"; }
conf=$(openssl version -d | cut -d'"' -f2)/openssl.cnf
for lane in ${1:-3.5 3.6}; do
    folder=$work/$lane
    folder_of "$folder" "$([ "$lane" = 3.5 ] && echo psycopg_binary || echo pycurl)"
    loaded=$(run ldd "$tool" .build/debug/Rehearsing)
    ! grep -E 'lib(ssl|crypto|curl)[-.].*=>' <<<"$loaded" | grep -vF "=> $folder/" >&2 || exit 1
    run swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width "${TEST_WIDTH:-4}" \
        --filter "$tests" 2>&1 | tee "$work/$lane.log" | grep -E '^(✘|↳|✔ Test run|━|loaded:|error:)'
    run "$tool" demo | tail -n 1
    run "$tool" rehearse -- .build/debug/Rehearsing '{policy}' '{url}' | grep ' attacks in '
done
echo "modern: everything passed: $(sed -n 's/^loaded: //p' "$work"/*.log | paste -sd ';' | sed 's,;,; ,g')"
