"""Runs postgres.sql, its queries and those of dashboard.json on a server. usage: engines_postgres.py PSQL SOCKET-FOLDER"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

import engines_check
from engines_reports import REPORTS

FOLDER = pathlib.Path("Examples/collector")
PSQL, SOCKETS = sys.argv[1:]


def run(code):
    done = subprocess.run(
        [PSQL, "-X", "-q", "--csv", "-t", "-v", "ON_ERROR_STOP=1", "-h", SOCKETS, "-U", "pins", "-d", "postgres", "-f", "-"],
        input=code, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise SystemExit(f"engines: PostgreSQL: {done.stderr.strip()}\n{code}")
    return list(csv.reader(io.StringIO(done.stdout)))


def main():
    version = run("SHOW server_version")[0][0]
    for _ in range(2):  # the second time nothing changes
        run((FOLDER / "postgres.sql").read_text())
    for when, attributes, body in REPORTS:
        values = [attributes["log.record.uid"], when.isoformat(), body]
        run("INSERT INTO pin_reports VALUES (" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")")
    if run("SELECT count(*) FROM pin_failures") != [["17"]]:
        raise SystemExit("engines: PostgreSQL: the second report with the same id was not dropped")
    engines_check.check(
        f"PostgreSQL {version}", engines_check.statements((FOLDER / "postgres-queries.sql").read_text()), run)
    count = 0
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            # What Grafana puts in the place of its macros.
            code = re.sub(
                r"\$__timeGroupAlias\((\w+), *'1h', *0\)", r"date_trunc('hour', \1) AS time", target["rawSql"])
            code = re.sub(r"\$__timeFilter\((\w+)\)", r"\1 > now() - interval '30 days'", code)
            if not run(code.replace("$hostname", "'api.example.com', 'old.example.com'")):
                raise SystemExit(f"engines: PostgreSQL: no row for \"{panel['title']}\"")
            count += 1
    deletion = next(line for line in (FOLDER / "postgres.sql").read_text().splitlines() if "DELETE" in line)
    run(deletion[deletion.index("DELETE"):])
    print(f"engines: PostgreSQL {version}: {count} queries of the dashboard return rows")


main()
