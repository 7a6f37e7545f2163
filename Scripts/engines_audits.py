"""Audits loopback servers in ten parts on two days, and loads the results into the ClickHouse that chdb embeds.
Started by engines.sh. usage: engines_audits.py TOOL"""
import pathlib
import sys
import tempfile

import engines_check
from engines_parts import EXAMPLE, accepted_codes, audit
from engines_servers import Servers

TOOL = pathlib.Path(sys.argv[1]).resolve()


def check(name, rows, expected):
    if rows != expected:
        raise SystemExit(f"engines: audits: {name}: {rows}, not {expected}")


def main():
    with tempfile.TemporaryDirectory() as name, Servers(pathlib.Path(name)) as servers:
        folder = pathlib.Path(name)
        check("exit codes of a part that succeeds", accepted_codes(folder), [[0, 1, 3], [0, 1, 3]])
        names = ["changed"] * 2 + ["right"] * 32 + ["repaired"] + ["wrong"] * 3 + ["none"] * 2
        servers.write_list(names)
        first = audit(TOOL, folder, "2026-11-22")
        # The last name leaves the list, and the keys of three others change.
        servers.write_list(names[:-1])
        servers.present("changed", "wrong")
        servers.present("repaired", "right")
        second = audit(TOOL, folder, "2026-11-23")
        run = engines_check.clickhouse(folder / "clickhouse")
        for _, code in engines_check.statements((EXAMPLE / "clickhouse.sql").read_text()):
            run(code)
        for line in first + second + second:  # the second day twice
            run("INSERT INTO pins.audits SETTINGS date_time_input_format='best_effort', input_format_skip_unknown_fields=1 "
                f"FORMAT JSONEachRow {line}")
        queries = engines_check.statements((EXAMPLE / "queries.sql").read_text())
        days, changes, gone, reasons, ends, groups = [run(code) for _, code in queries]
        check("days", [[int(value) for value in row[1:5]] for row in days], [[40, 34, 4, 2], [39, 33, 5, 1]])
        check("changes", [[row[0], row[2], row[4], row[5]] for row in changes], [
            ["h0.audit.test", "trusted", "rejected", "pin-mismatch"],
            ["h1.audit.test", "trusted", "rejected", "pin-mismatch"],
            ["h34.audit.test", "rejected", "trusted", "pin-matched"]])
        check("gone", [row[0] for row in gone], ["h39.audit.test"])
        check("reasons", [[row[1], int(row[2])] for row in reasons],
              [["pin-matched", 33], ["pin-mismatch", 5], ["connection-refused", 1]])
        check("ends", sum(int(row[1]) for row in ends), 38)
        check("groups", sum(int(row[2]) for row in groups), 38 + 38)
        print(f"engines: audits: ten parts on two days, {len(queries)} queries return what they must")


main()
