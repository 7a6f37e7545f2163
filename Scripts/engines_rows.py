"""The rows that load.sh makes of the results of engines_parts.py, for engines_audits.py."""
import json
import os
import re
import subprocess

from engines_parts import EXAMPLE


def rows(folder, name, days):
    """Returns what load.sh gives to ClickHouse. The results, all of today, are moved to one date after the other."""
    files = sorted((folder / name).iterdir())
    for index, file in enumerate(files):
        day = days[index * len(days) // len(files)]
        file.write_text(re.sub(r'("at": ?")\d{4}-\d\d-\d\d', rf"\g<1>{day}", file.read_text()))
    (folder / "bin" / "clickhouse-client").write_text("#!/bin/sh\nexec cat\n")
    (folder / "bin" / "clickhouse-client").chmod(0o755)
    return subprocess.run([EXAMPLE / "load.sh", folder / name, "--database", "pins"], check=True, capture_output=True, text=True, env={
        **os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}).stdout.splitlines()


def later_failure(row):
    """Returns a later result of the same server, which was not reached."""
    row = json.loads(row)
    kept = {key: row[key] for key in ("audit", "host", "port", "connectTo", "policy", "anchors")}
    return json.dumps({**kept, "at": "2026-11-24T23:59:59Z", "error": {"code": "connect-timeout", "message": ""}})
