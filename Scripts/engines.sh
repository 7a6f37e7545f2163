#!/usr/bin/env bash
# Proves that the SQL of Examples/collector runs, with the expected results: on ClickHouse, which the Python package chdb-core
# embeds, and on Debian's PostgreSQL, as a server of its own in a temporary folder without a network port. Then the tests check
# OTLP bodies with the official messages. Says "skipped" for each engine that cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONDONTWRITEBYTECODE=1
tool=${PINTLE_TOOL:-.build/release/pintle}
venv=.build/engines
if [ ! -x $venv/bin/python ]; then
    rm -rf $venv
    { python3 -m venv $venv && $venv/bin/pip install --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20 \
        'chdb-core>=26,<27' 'opentelemetry-proto>=1.40,<2'; } >"$venv.log" 2>&1 || { tail -n 1 "$venv.log" >&2 && rm -rf $venv; }
fi
if [ -x $venv/bin/python ]; then
    $venv/bin/python Scripts/engines_clickhouse.py
    $venv/bin/python Scripts/engines_audits.py "$tool"
else
    echo "engines: ClickHouse: skipped: the Python package chdb-core cannot be installed"
fi

swift test --disable-build-manifest-caching --disable-xctest --filter officialMessages >$venv.log 2>&1 ||
    { grep -aE '^(✘|↳)|error:' $venv.log >&2 && exit 1; }
grep -aE '^➜|^✔ Test "' $venv.log | sed 's/^/engines: OpenTelemetry: /' || { echo "engines: no test ran: $venv.log" >&2 && exit 1; }

bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "engines: PostgreSQL: skipped: install the package postgresql" && exit; }
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
