#!/usr/bin/env bash
# Installs Debian packages, as root or through sudo, without starting the services in them.
# usage: apt-install.sh PACKAGE...
set -euo pipefail
if ! command -v apt-get >/dev/null; then
    echo "setup: error: missing here, under Debian's names: $*" >&2
    echo "setup: hint: install them under the names of your distribution, then run make again" >&2
    exit 1
fi
root=()
if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
    if ! command -v sudo >/dev/null; then
        echo "setup: error: cannot install $* without root" >&2
        echo "setup: hint: as root: apt-get install $*" >&2
        exit 1
    fi
fi

# nginx would start with its default site. A policy-rc.d that returns 101 prevents that. An existing
# policy-rc.d is the administrator's choice and stays.
guard=/usr/sbin/policy-rc.d
if [ ! -e $guard ]; then
    printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee $guard >/dev/null
    "${root[@]}" chmod 755 $guard
    trap '"${root[@]}" rm -f $guard' EXIT
fi

echo "setup: installing $*"
apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null
