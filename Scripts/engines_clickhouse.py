"""Runs clickhouse.sql and its queries on the ClickHouse that chdb embeds. Started by engines.sh."""
import json
import pathlib
import tempfile

import engines_check
from engines_reports import REPORTS

FOLDER = pathlib.Path("Examples/collector")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = engines_check.clickhouse(folder)
        version = run("SELECT version()")[0][0]
        for _ in range(2):  # the second time nothing changes
            for _, code in engines_check.statements((FOLDER / "clickhouse.sql").read_text()):
                run(code)
        for when, attributes, body in REPORTS + [
            # A clock that is wrong by years, and a record that is no report, which the view leaves out.
            (REPORTS[0][0].replace(year=2001), {**REPORTS[0][1], "log.record.uid": "f" * 32}, "{}"),
            (REPORTS[0][0], {"server.address": "api.example.com"}, "{}"),
        ]:
            row = {
                "Timestamp": when.strftime("%Y-%m-%d %H:%M:%S"), "TimestampTime": when.strftime("%Y-%m-%d %H:%M:%S"),
                "ServiceName": "Shop", "SeverityText": "ERROR", "SeverityNumber": 17, "Body": body,
                "LogAttributes": attributes}
            run(f"INSERT INTO pins.otel_logs FORMAT JSONEachRow {json.dumps(row)}")
        kept = run("SELECT count(), uniqExact(id) FROM pins.pin_reports")[0]
        if [int(value) for value in kept] != [17, 17]:
            raise SystemExit(f"engines: ClickHouse: the view has {kept} reports, not 17")
        engines_check.check(
            f"ClickHouse {version}", engines_check.statements((FOLDER / "clickhouse-queries.sql").read_text()), run)


main()
