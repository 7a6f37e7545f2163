"""Audits loopback servers twice in ten parts, and loads the results into the ClickHouse of chdb. usage: engines_audits.py TOOL"""
import pathlib
import sys
import tempfile

import engines_check
from engines_parts import EXAMPLE, accepted_codes, audit
from engines_rows import later_failure, rows
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
        audit(TOOL, folder, "second-name")  # names do not tell which audit is the newest
        # The last name leaves the list, the keys of three others change, and so does the policy's file.
        servers.write_list(names[:-1])
        servers.present("changed", "wrong")
        servers.present("repaired", "right")
        (folder / "policy.json").write_text((folder / "policy.json").read_text() + "\n")
        audit(TOOL, folder, "first-name")
        first = rows(folder, "second-name", ["2026-11-22", "2026-11-23"])  # goes on after midnight
        with (folder / "first-name" / "0.ndjson").open("a") as part:
            part.write('{"host":"h2.audit.test","port":443,"at":"2026-11-24T')  # not complete
        second = rows(folder, "first-name", ["2026-11-24"])
        second.append(later_failure(next(row for row in second if '"h3.audit.test"' in row)))
        run = engines_check.clickhouse(folder / "clickhouse")
        for _, code in engines_check.statements((EXAMPLE / "clickhouse.sql").read_text()):
            run(code)
        for line in first + second + second:  # the second audit twice
            run("INSERT INTO audits SETTINGS date_time_input_format='best_effort', input_format_skip_unknown_fields=1 "
                f"FORMAT JSONEachRow {line}")
        queries = engines_check.statements((EXAMPLE / "queries.sql").read_text())
        audits, changes, gone, reasons, ends, groups = [run(code) for _, code in queries]
        check("audits", [[int(value) for value in row[2:7]] for row in audits], [[40, 34, 4, 2, 1], [39, 32, 5, 2, 1]])
        check("changes", [[row[0], row[2], *row[4:7]] for row in changes], [
            ["h0.audit.test", "trusted", "rejected", "pin-mismatch", 1],
            ["h1.audit.test", "trusted", "rejected", "pin-mismatch", 1],
            ["h3.audit.test", "trusted", "unreached", "connect-timeout", 1],
            ["h34.audit.test", "rejected", "trusted", "pin-matched", 1]])
        check("gone", [row[0] for row in gone], ["h39.audit.test"])
        check("reasons", [[row[1], int(row[2])] for row in reasons],
              [["pin-matched", 32], ["pin-mismatch", 5], ["connect-timeout", 1], ["connection-refused", 1]])
        check("ends", sum(int(row[1]) for row in ends), 37)
        check("groups", sum(int(row[3]) for row in groups), 38 + 37)
        print(f"engines: audits: ten parts of two audits, {len(queries)} queries return what they must")


main()
