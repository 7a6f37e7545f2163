#!/usr/bin/env python3
"""Proves that the SQL of Examples/collector, audit-at-scale and key-history runs, with the expected results.

It runs on ClickHouse, which the Python package chdb-core embeds, and on Debian's PostgreSQL, as a server of its own in a
temporary folder without a network port. Then the tests check OTLP bodies with OpenTelemetry's official messages. Says "skipped"
for each engine that cannot be had; with PINTLE_REQUIRED=1, that fails. $PINTLE_TOOL names the tool.
"""
import base64, csv, datetime, io, json, os, pathlib, re, shutil, socket, ssl, subprocess, sys, tempfile, threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.chdir(ROOT)
COLLECTOR, AUDITS, PARTS = pathlib.Path("Examples/collector"), pathlib.Path("Examples/audit-at-scale"), 10
KEYS = pathlib.Path("Examples/key-history")
VENV, LOG = pathlib.Path(".build/engines"), pathlib.Path(".build/engines.log")


# Reports that apps have sent.

# The interceptor's leaf is the last of these.
LEAVES = [f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n" for name in ("rotated", "proxy")]


def report(number, hours, reason, leaf=0, host="api.example.com", version="3.1", enforcement="enforce", failure=None):
    when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
    body = {
        "date-time": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "hostname": host, "port": 443,
        "effective-expiration-date": None, "include-subdomains": True, "noted-hostname": "example.com",
        "served-certificate-chain": [LEAVES[leaf]], "validated-certificate-chain": [], "known-pins": [], "reason": reason,
        "enforcement": enforcement, "policy-version": 7, "app": {"name": "Shop", "version": version}}
    if failure:
        body["path-failure"] = failure
    attributes = {
        "log.record.uid": f"{number:032x}", "server.address": host, "server.port": "443", "pintle.decision": "rejected",
        "pintle.reason": reason, "pintle.enforcement": enforcement, "pintle.noted_hostname": "example.com",
        "pintle.policy_version": "7"}
    if failure:
        attributes["pintle.path_failure"] = failure
    return when, attributes, json.dumps(body)


REPORTS = (
    # A key was rotated: twelve apps meet the same certificate within the hour.
    [report(number, 0.2, "pin-mismatch") for number in range(12)]
    # An interceptor, met once, and its report sent again because the answer was lost.
    + [report(20, 30, "pin-mismatch", leaf=1)] * 2
    + [report(30, 50, "pins-expired", version="2.0"), report(31, 51, "pins-expired", version="2.0")]
    + [report(40, 70, "mismatch-reported-only", leaf=1, enforcement="report-only")]
    + [report(50, 20, "invalid-path", host="old.example.com", failure="expired")])


def embedded(folder):
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


def reports_in_clickhouse():
    with tempfile.TemporaryDirectory() as folder:
        run = embedded(folder)
        version = run("SELECT version()")[0][0]
        for _ in range(2):  # the second time nothing changes
            for _, code in statements((COLLECTOR / "clickhouse.sql").read_text()):
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
        check(
            f"ClickHouse {version}", statements((COLLECTOR / "clickhouse-queries.sql").read_text()), run)


class PostgreSQL:
    """A server in a temporary folder, with a socket there and no port."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        # PostgreSQL does not run as root.
        self.user = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(folder, "nobody")

    def control(self, program, *words):
        done = subprocess.run([*self.user, self.programs / program, "-D", f"{self.folder}/data", *words], cwd=self.folder,
                              stdout=LOG.open("a"), stderr=subprocess.STDOUT)
        return done.returncode == 0

    def __enter__(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off"
        if not self.control("initdb", "-A", "trust", "-U", "pins") or not self.control(
                "pg_ctl", "-w", "-l", f"{self.folder}/data/log", "-o", options, "start"):
            raise SystemExit(f"engines: PostgreSQL does not start: {LOG}")
        return self

    def __exit__(self, *_):
        self.control("pg_ctl", "-m", "immediate", "stop")

    def run(self, code):
        """Runs a statement and returns its rows."""
        done = subprocess.run(
            [self.programs / "psql", "-X", "-q", "--csv", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "pins",
             "-d", "postgres", "-f", "-"], input=code, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise SystemExit(f"engines: PostgreSQL: {done.stderr.strip()}\n{code}")
        return list(csv.reader(io.StringIO(done.stdout)))


def reports_in_postgres(run):
    version = run("SHOW server_version")[0][0]
    for _ in range(2):  # the second time nothing changes
        run((COLLECTOR / "postgres.sql").read_text())
    for when, attributes, body in REPORTS:
        values = [attributes["log.record.uid"], when.isoformat(), body]
        run("INSERT INTO pin_reports VALUES (" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")")
    if run("SELECT count(*) FROM pin_failures") != [["17"]]:
        raise SystemExit("engines: PostgreSQL: the second report with the same id was not dropped")
    check(
        f"PostgreSQL {version}", statements((COLLECTOR / "postgres-queries.sql").read_text()), run)
    count = 0
    for panel in json.loads((COLLECTOR / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            # What Grafana puts in the place of its macros.
            code = re.sub(
                r"\$__timeGroupAlias\((\w+), *'1h', *0\)", r"date_trunc('hour', \1) AS time", target["rawSql"])
            code = re.sub(r"\$__timeFilter\((\w+)\)", r"\1 > now() - interval '30 days'", code)
            if not run(code.replace("$hostname", "'api.example.com', 'old.example.com'")):
                raise SystemExit(f"engines: PostgreSQL: no row for \"{panel['title']}\"")
            count += 1
    deletion = next(line for line in (COLLECTOR / "postgres.sql").read_text().splitlines() if "DELETE" in line)
    run(deletion[deletion.index("DELETE"):])
    print(f"engines: PostgreSQL {version}: {count} queries of the dashboard return rows")


# Audits of servers on loopback.

def mint(folder):
    """Writes root.pem, right.pem and wrong.pem with their keys, and a policy that pins the key of right.pem."""
    def openssl(*words, content=None):
        return subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, input=content).stdout

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-days", "30", "-subj", "/CN=Root", "-keyout", "root.key", "-out", "root.pem",
            "-addext", "keyUsage=critical,keyCertSign")
    (folder / "names").write_text(
        "subjectAltName=DNS:*.audit.test\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n"
        "keyUsage=critical,digitalSignature\n")
    for name in ("right", "wrong"):
        openssl("req", *new, "-subj", "/CN=server", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
                "-days", "20", "-extfile", "names", "-out", f"{name}.pem")
    key = openssl("pkey", "-in", "right.key", "-pubout", "-outform", "DER")
    pin = base64.b64encode(openssl("dgst", "-sha256", "-binary", content=key)).decode()
    (folder / "policy.json").write_text(
        '{"version": 1, "hosts": [{"host": "audit.test", "includeSubdomains": true, "pins": ["sha256/%s"], '
        '"backupPins": ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="]}]}' % pin)


class Servers:
    def __init__(self, folder):
        self.folder = folder
        self.sockets = []
        self.contexts = {}

    def __enter__(self):
        mint(self.folder)
        self.ports = {name: self.serve(name) for name in ("changed", "right", "wrong", "repaired")}
        with socket.create_server(("127.0.0.1", 0)) as closed:
            self.ports["none"] = closed.getsockname()[1]
        return self

    def write_list(self, names):
        """Writes hosts.txt, in which each name leads to one of the servers, or with `none` to no server."""
        lines = [f"h{number}.audit.test 127.0.0.1:{self.ports[name]}\n" for number, name in enumerate(names)]
        (self.folder / "hosts.txt").write_text("".join(lines))

    def present(self, server, certificate):
        """Makes a server present right.pem or wrong.pem from now on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        self.contexts[server] = context

    def serve(self, name):
        self.present(name, "right" if name in ("right", "changed") else "wrong")
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.sockets.append(listener)

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=handshake, args=(client,), daemon=True).start()

        def handshake(client):
            try:
                with client, self.contexts[name].wrap_socket(client, server_side=True) as stream:
                    stream.settimeout(10)
                    stream.recv(1)
            except OSError:
                pass

        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    def __exit__(self, *_):
        for listener in self.sockets:
            listener.close()


def shell_lines():
    """Returns the script of job.yaml."""
    text = (AUDITS / "job.yaml").read_text()
    block = re.search(r"args:\n +- \|\n((?: {14}.*\n)+)", text).group(1)
    return "".join(line[14:] + "\n" for line in block.splitlines())


def accepted_codes(folder):
    """Returns the exit codes of pintle with which a part succeeds, of the job and of the workflow."""
    text = (AUDITS / "workflow.yml").read_text()
    step = re.search(r"- run: \|\n((?: {10}.*\n)+?) {8}shell", text).group(1)
    tool = folder / "codes"
    tool.mkdir()

    def succeeds(script, code):
        (tool / "pintle").write_text(f"#!/bin/sh\nexit {code}\n")
        (tool / "pintle").chmod(0o755)
        return subprocess.run(["sh", "-ec" if script is step else "-c", script], cwd=folder, env={
            "PATH": f"{tool}:{os.environ['PATH']}", "AUDIT": str(tool), "PARTS": "1", "JOB": "codes",
            "JOB_COMPLETION_INDEX": "0", "PART": "1"}).returncode == 0
    return [[code for code in (0, 1, 2, 3, 127, 137) if succeeds(script, code)] for script in (shell_lines(), step)]


def audit(tool, folder, name):
    """Runs all parts with a tool."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "pintle").write_text(f"#!/bin/sh\nexec '{tool}' \"$@\" --anchors '{folder}/root.pem'\n")
    (tools / "pintle").chmod(0o755)
    for index in range(PARTS):
        subprocess.run(["sh", "-c", shell_lines()], check=True, timeout=120, env={
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "AUDIT": str(folder), "PARTS": str(PARTS),
            "JOB": name, "JOB_COMPLETION_INDEX": str(index)})


def rows(folder, name, days):
    """Returns what load.sh gives to ClickHouse. The results, all of today, are moved to one date after the other."""
    files = sorted((folder / name).iterdir())
    for index, file in enumerate(files):
        day = days[index * len(days) // len(files)]
        file.write_text(re.sub(r'("at": ?")\d{4}-\d\d-\d\d', rf"\g<1>{day}", file.read_text()))
    (folder / "bin" / "clickhouse-client").write_text("#!/bin/sh\nexec cat\n")
    (folder / "bin" / "clickhouse-client").chmod(0o755)
    return subprocess.run([AUDITS / "load.sh", folder / name, "--database", "pins"], check=True, capture_output=True, text=True, env={
        **os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}).stdout.splitlines()


def later_failure(row):
    """Returns a later result of the same server, which was not reached."""
    row = json.loads(row)
    kept = {key: row[key] for key in ("audit", "host", "port", "connectTo", "policy", "anchors")}
    return json.dumps({**kept, "at": "2026-11-24T23:59:59Z", "error": {"code": "connect-timeout", "message": ""}})


def compare(name, rows, expected):
    if rows != expected:
        raise SystemExit(f"engines: audits: {name}: {rows}, not {expected}")


def audits_in_clickhouse(tool):
    with tempfile.TemporaryDirectory() as name, Servers(pathlib.Path(name)) as servers:
        folder = pathlib.Path(name)
        compare("exit codes of a part that succeeds", accepted_codes(folder), [[0, 1, 3], [0, 1, 3]])
        names = ["changed"] * 2 + ["right"] * 32 + ["repaired"] + ["wrong"] * 3 + ["none"] * 2
        servers.write_list(names)
        audit(tool, folder, "second-name")  # names do not tell which audit is the newest
        # The last name leaves the list, the keys of three others change, and so does the policy's file.
        servers.write_list(names[:-1])
        servers.present("changed", "wrong")
        servers.present("repaired", "right")
        (folder / "policy.json").write_text((folder / "policy.json").read_text() + "\n")
        audit(tool, folder, "first-name")
        first = rows(folder, "second-name", ["2026-11-22", "2026-11-23"])  # goes on after midnight
        with (folder / "first-name" / "0.ndjson").open("a") as part:
            part.write('{"host":"h2.audit.test","port":443,"at":"2026-11-24T')  # not complete
        second = rows(folder, "first-name", ["2026-11-24"])
        second.append(later_failure(next(row for row in second if '"h3.audit.test"' in row)))
        run = embedded(folder / "clickhouse")
        for _, code in statements((AUDITS / "clickhouse.sql").read_text()):
            run(code)
        for line in first + second + second:  # the second audit twice
            run("INSERT INTO audits SETTINGS date_time_input_format='best_effort', input_format_skip_unknown_fields=1 "
                f"FORMAT JSONEachRow {line}")
        queries = statements((AUDITS / "queries.sql").read_text())
        audits, changes, gone, reasons, ends, groups = [run(code) for _, code in queries]
        compare("audits", [[int(value) for value in row[2:7]] for row in audits], [[40, 34, 4, 2, 1], [39, 32, 5, 2, 1]])
        compare("changes", [[row[0], row[2], *row[4:7]] for row in changes], [
            ["h0.audit.test", "trusted", "rejected", "pin-mismatch", 1],
            ["h1.audit.test", "trusted", "rejected", "pin-mismatch", 1],
            ["h3.audit.test", "trusted", "unreached", "connect-timeout", 1],
            ["h34.audit.test", "rejected", "trusted", "pin-matched", 1]])
        compare("gone", [row[0] for row in gone], ["h39.audit.test"])
        compare("reasons", [[row[1], int(row[2])] for row in reasons],
              [["pin-matched", 32], ["pin-mismatch", 5], ["connect-timeout", 1], ["connection-refused", 1]])
        compare("ends", sum(int(row[1]) for row in ends), 37)
        compare("groups", sum(int(row[3]) for row in groups), 38 + 37)
        print(f"engines: audits: ten parts of two audits, {len(queries)} queries return what they must")


def key_result(day, key, certificate, matched=None):
    """Returns the line of a result that saw a leaf with this key."""
    verdict = {"decision": "trusted", "reason": "pin-matched", "matchedPin": f"sha256/{matched}"} if matched else {
        "decision": "rejected", "reason": "pin-mismatch"}
    leaf = {"position": "leaf", "spkiPin": f"sha256/{key}", "certificateSHA256": certificate, "onPath": True}
    return json.dumps({"host": "a.test", "port": 443, "at": f"2026-11-{day}T06:00:00Z", **verdict, "certificates": [leaf]})


def keys_in_clickhouse():
    """Loads results of four days, one of them twice and one cut off, and compares the rows of both queries."""
    first, second = key_result(10, "k", "1", matched="k"), key_result(11, "k", "2", matched="k")
    with tempfile.TemporaryDirectory() as name:
        run = embedded(pathlib.Path(name))
        *tables, keys, pins = [code for _, code in statements((KEYS / "clickhouse.sql").read_text())]
        for code in tables:
            run(code)
        for line in [second, first, first, key_result(12, "n", "3"), '{"host":"cut']:
            run(f"INSERT INTO lines FORMAT JSONEachRow {json.dumps({'line': line})}")
        compare("which key served when", [[*row[:4], int(row[4])] for row in run(keys)], [
            ["a.test:443", "sha256/k", "2026-11-10T06:00:00Z", "2026-11-11T06:00:00Z", 2],
            ["a.test:443", "sha256/n", "2026-11-12T06:00:00Z", "2026-11-12T06:00:00Z", 1]])
        compare("which pin stopped matching", run(pins), [
            ["a.test:443", "sha256/k", "2026-11-11T06:00:00Z", "2026-11-12T06:00:00Z"]])
        print("engines: keys: both queries return what they must")


# What can be had here.

def skip(reason):
    print(f"engines: {reason}")
    if os.environ.get("PINTLE_REQUIRED"):
        sys.exit(1)


def clickhouse(tool):
    """Installs the packages, then runs this file again with them."""
    python, ready = VENV / "bin/python", VENV / "ready"
    if not ready.exists() or ready.stat().st_mtime < pathlib.Path(__file__).stat().st_mtime:
        shutil.rmtree(VENV, ignore_errors=True)
        LOG.parent.mkdir(exist_ok=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2",
                   "--timeout", "20", "chdb-core>=26,<27", "opentelemetry-proto>=1.40,<2"]
        for words in ([sys.executable, "-m", "venv", VENV], install):
            if subprocess.run(words, stdout=LOG.open("a"), stderr=subprocess.STDOUT).returncode != 0:
                reason = (LOG.read_text().splitlines() or [""])[-1]
                return skip(f"ClickHouse: skipped: pip cannot install chdb-core and opentelemetry-proto ({reason})")
        ready.touch()
    subprocess.run([python, __file__, "clickhouse", tool], check=True)


def messages():
    """Runs the test that parses OTLP bodies with the official messages."""
    done = subprocess.run(
        ["swift", "test", "--disable-build-manifest-caching", "--disable-xctest", "--filter", "officialMessages",
         *os.environ.get("DEBUG_BUILD_OPTIONS", "").split()],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    LOG.write_text(done.stdout)
    if done.returncode != 0:
        raise SystemExit("\n".join(re.findall("^(?:✘|↳).*|.*error:.*", done.stdout, re.M) or done.stdout.splitlines()[-10:]))
    result = re.search('^(➜|✔ Test ").*', done.stdout, re.M)
    if not result:
        raise SystemExit(f"engines: no test ran: {LOG}")
    (skip if result[1] == "➜" else print)(f"engines: OpenTelemetry: {result[0]}")


def postgres():
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    if not folders:
        return skip("PostgreSQL: skipped: install the package postgresql")
    with tempfile.TemporaryDirectory() as folder, PostgreSQL(folders[-1], folder) as server:
        reports_in_postgres(server.run)


sys.dont_write_bytecode = True
if sys.argv[1:2] == ["clickhouse"]:
    reports_in_clickhouse()
    keys_in_clickhouse()
    audits_in_clickhouse(pathlib.Path(sys.argv[2]))
else:
    clickhouse(pathlib.Path(os.environ.get("PINTLE_TOOL") or ".build/release/pintle").resolve())
    messages()
    postgres()
