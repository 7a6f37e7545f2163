"""Compares the rows of the collector's queries with what the reports of engines_reports.py must give."""
import json


def clickhouse(folder):
    """Returns a function that runs a statement on an embedded ClickHouse and returns its rows."""
    import chdb.session
    session = chdb.session.Session(str(folder))

    def run(code):
        text = str(session.query(code, "JSONCompactEachRow"))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return run


# What each query must return, by the first words of the comment above it: the columns that do not depend on the time.
EXPECTED = {
    "Reports by day": lambda rows: sum(int(row[3]) for row in rows) == 17,
    "One certificate": lambda rows: [int(row[2]) for row in rows] == [12, 2],
    "Versions of the app": lambda rows: [(row[0], int(row[1]), int(row[3])) for row in rows] == [("2.0", 7, 2)],
    "Is it safe": lambda rows: [(row[0], int(row[1]), int(row[2])) for row in rows] == [("example.com", 1, 1)],
    "Path failures": lambda rows: [(row[0], row[1], int(row[2])) for row in rows] == [("expired", "old.example.com", 1)],
    "Alarm": lambda rows: [(row[0], int(row[1])) for row in rows] == [("api.example.com", 12)],
}


def statements(text):
    """Returns the statements of a file, each with the words of its comment."""
    found = []
    for part in text.split(";\n"):
        lines = part.strip().splitlines()
        comment = " ".join(line[3:] for line in lines if line.startswith("-- "))
        code = "\n".join(line for line in lines if not line.startswith("-- "))
        if code.strip():
            found.append((comment, code.rstrip().rstrip(";")))
    return found


def check(engine, queries, run):
    """Runs each query, and compares its rows with EXPECTED."""
    seen = set()
    for comment, code in queries:
        name = next((name for name in EXPECTED if comment.startswith(name)), None)
        rows = run(code)
        if name is None or not EXPECTED[name](rows):
            raise SystemExit(f"engines: {engine}: not the expected rows for \"{comment}\": {rows}")
        seen.add(name)
    if seen != set(EXPECTED):
        raise SystemExit(f"engines: {engine}: no query for {', '.join(set(EXPECTED) - seen)}")
    print(f"engines: {engine}: {len(seen)} queries return what they must")
