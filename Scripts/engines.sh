#!/usr/bin/env bash
# Proves that the SQL of Examples/collector runs, with the expected results: on ClickHouse, which the Python package chdb-core
# embeds, and on Debian's PostgreSQL, as a server of its own in a temporary folder without a network port. Then the tests check
# OTLP bodies with the official messages. Says "skipped" for each engine that cannot be had; with PINTLE_REQUIRED=1, that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONDONTWRITEBYTECODE=1
tool=${PINTLE_TOOL:-.build/release/pintle}
venv=.build/engines
skip() { echo "engines: $1" && [ -z "${PINTLE_REQUIRED:-}" ] || exit 1; }
if [ ! $venv/ready -nt Scripts/engines.sh ]; then
    rm -rf $venv
    if python3 -m venv $venv >$venv.log 2>&1 && $venv/bin/pip install --quiet --disable-pip-version-check --no-input --retries 2 \
        --timeout 20 'chdb-core>=26,<27' 'opentelemetry-proto>=1.40,<2' >>$venv.log 2>&1; then touch $venv/ready; fi
fi
if [ -e $venv/ready ]; then
    $venv/bin/python Scripts/engines_clickhouse.py
    $venv/bin/python Scripts/engines_audits.py "$tool"
else
    skip "ClickHouse: skipped: pip cannot install chdb-core and opentelemetry-proto ($(tail -n 1 $venv.log))"
fi

swift test --disable-build-manifest-caching --disable-xctest --filter officialMessages >$venv.log 2>&1 || {
    grep -aE '^(✘|↳)|error:' $venv.log >&2 || tail $venv.log >&2
    exit 1
}
result=$(grep -aE '^➜|^✔ Test "' $venv.log) || { echo "engines: no test ran: $venv.log" >&2 && exit 1; }
if [[ $result == ➜* ]]; then skip "OpenTelemetry: $result"; else echo "engines: OpenTelemetry: $result"; fi

bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1 || true)
[ -n "$bin" ] || { skip "PostgreSQL: skipped: install the package postgresql" && exit; }
work=$(mktemp -d)
server='' # PostgreSQL does not run as root.
if [ "$(id -u)" -eq 0 ]; then server="runuser -u nobody --" && chown nobody "$work"; fi
trap '$server "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
(
    cd "$work"
    $server "$bin/initdb" -D "$work/data" -A trust -U pins >"$work.log" 2>&1
    $server "$bin/pg_ctl" -D "$work/data" -w -l "$work/data/log" \
        -o "-c listen_addresses= -c unix_socket_directories=$work -c fsync=off" start >>"$work.log" 2>&1
) || { tail -n 5 "$work.log" >&2 && exit 1; }
rm -f "$work.log"
python3 Scripts/engines_postgres.py "$bin/psql" "$work"
