#!/usr/bin/env bash
# Checks that the packages for building, testing and measuring are installed, and installs the missing ones.
# Prints nothing and takes a few milliseconds if all are installed.
# usage: setup.sh [build] [test] [docs] [peers] [bench] [model] [package]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(uname)" = Linux ] || exit 0
packages=()
command() { if builtin command -v "$1" >/dev/null; then :; else packages+=("$2"); fi; }
library() { if pkg-config --exists "$1" 2>/dev/null; then :; else packages+=("$2"); fi; }

for purpose in "$@"; do
    case $purpose in
    build)
        command pkg-config pkg-config
        library "libssl >= 3 libpsl expat" "libssl-dev libpsl-dev libexpat1-dev"
        library "libcurl >= 7.80" libcurl4-openssl-dev
        library zlib zlib1g-dev
        command openssl openssl
        ;;
    test)
        command curl curl
        command nginx nginx-light
        command nghttp nghttp2-client
        command readelf binutils
        command xmllint libxml2-utils
        command aapt2 aapt
        command pebble pebble
        command acme-tiny acme-tiny
        [ .build/venv/ready -nt Scripts/venv.sh ] || python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3 python3-venv)
        ;;
    docs) command jq jq ;;
    peers)
        command go golang-go
        command javac default-jdk-headless
        [ -e /usr/share/java/okhttp.jar ] || packages+=(libokhttp-java)
        ;;
    bench)
        command valgrind valgrind
        command /usr/bin/time time
        library libcrypto libssl-dev
        ;;
    package)
        command dpkg-shlibdeps "dpkg-dev binutils"
        command xz xz-utils
        command jq jq && command git git
        ;;
    model)
        command spin spin
        command cc gcc
        ;;
    *) echo "setup: unknown purpose $purpose; one of build, test, docs, peers, bench, model, package" >&2 && exit 2 ;;
    esac
done

if [ ${#packages[@]} -gt 0 ]; then
    mapfile -t wanted < <(printf '%s\n' ${packages[@]} | sort -u)
    Scripts/apt-install.sh "${wanted[@]}"
fi
case " $* " in *" test "*) [ .build/venv/ready -nt Scripts/venv.sh ] || Scripts/venv.sh ;; esac
