#!/usr/bin/env python3
"""Proves that a client refuses each attack for the right reason, and gives none of them a byte of a request.

usage: verdicts.py [--page URL] CLIENT

Starts `pintle rehearse --serve`, runs CLIENT, which is the program Client of Examples, once against each server, and
compares its verdicts with Tests/StandIns/verdicts.txt. With --page, uses the servers of a `pintle rehearse --serve` that
runs elsewhere. A verdict that is not expected, a server that the file does not name, a server that is missing and a
request that got through each make it fail. Prints a table. $PINTLE_TOOL names the tool; without it, it is
.build/release/pintle.
"""
import concurrent.futures, html, os, pathlib, re, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTED = ROOT / "Tests/StandIns/verdicts.txt"
# Longer than the 60 seconds after which a session gives up a server that sends nothing.
LIMIT = 90
NO_ANSWER = "no answer"
SECOND_NAME = ("redirect-to-unpinned-host", "coalesced-connection")


class Tool:
    """The servers of one `pintle rehearse --serve`, until `close`."""

    def __init__(self, path):
        words = [path, "rehearse", "--serve"]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(words, text=True, **pipes)
        self.output, self.page = [], None
        for line in self.process.stdout:
            self.output.append(line)
            if found := re.match(r" *page +(http://\S+?)/? ", line):
                self.page = found[1]
                break
        # The tool prints a line for each connection, and would stop at a full pipe.
        self.reader = threading.Thread(target=lambda: self.output.extend(self.process.stdout))
        self.reader.start()
        if self.page is None:
            self.close()
            sys.exit(f"verdicts: error: the tool serves no page\n{''.join(self.output)}")

    def close(self):
        # In the background of a shell, programs ignore SIGINT.
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.reader.join()


def fetched(url):
    # Without the proxies of the environment, which must not see these servers.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as response:
        return response.read()


def servers(page):
    """Returns {id: (URL, what must happen, what the server saw)} of the page."""
    rows = re.findall(r'<tr><td><a href="(https:[^"]*)"[^>]*>([a-z0-9.-]+)</a>.*?</td>(.*?)</tr>', page, re.S)
    cells = {name: (url, re.findall(r"<td[^>]*>(.*?)</td>", rest, re.S)) for url, name, rest in rows}
    return {name: (html.unescape(url), must, was) for name, (url, (must, was)) in cells.items()}


def expectations(text):
    """Returns {id: the beginnings of the verdicts that are right} of the lines `ID: VERDICT | VERDICT`."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [line.split(": ", 1) for line in lines]
    names = [pair[0] for pair in pairs]
    if wrong := [line for line, pair in zip(lines, pairs) if len(pair) < 2 or names.count(pair[0]) > 1]:
        sys.exit(f"verdicts: error: {EXPECTED.name} has a line without a verdict, or twice: {wrong[0]}")
    return {name: verdicts.split(" | ") for name, verdicts in pairs}


def verdict(client, url, policy, limit=LIMIT):
    """Runs the client once. Returns the status of a page, the reason of a refusal with its details, or the failure."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with tempfile.TemporaryDirectory() as folder:
        try:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            run = subprocess.run([client, url, policy, folder], timeout=limit, env=environment, **pipes)
        except subprocess.TimeoutExpired:
            return NO_ANSWER
    if run.returncode < 0:
        return f"ended by signal {-run.returncode}"
    lines = run.stdout.decode(errors="replace").splitlines() or [f"exit code {run.returncode}, without a word"]
    # The second line of a refusal has its reason, the path failure and the system's text.
    return lines[1] if lines[0].startswith("refused: ") and len(lines) > 1 else lines[0]


def problem(name, expected, found):
    """Returns what is wrong with a server, or None. `found` has verdicts, and what the servers must and did see."""
    if name not in expected:
        return "not in the file"
    if name not in found:
        return "no such server"
    verdict, must, was = found[name]
    # A request that got through is wrong, whatever the file says.
    if was == "LET THROUGH":
        return "a request got through"
    if must == "accepted" and was != "accepted":
        return "the server got no request"
    return None if any(verdict.startswith(start) for start in expected[name]) else "another verdict"


def prove_the_judge():
    """Fails if a fault of each kind is not found, or a right result is."""
    right, refused = ("200", "accepted", "accepted"), ("pin-mismatch: x", "refused", "blocked")
    cases = [
        (right, None),
        (refused, None),
        (None, "no such server"),
        (("200", "refused", "blocked"), "another verdict"),
        (("invalid-path: expired", "refused", "blocked"), "another verdict"),
        ((NO_ANSWER, "refused", "inconclusive"), "another verdict"),
        (("200", "accepted", ""), "the server got no request"),
        (("pin-mismatch: x", "refused", "LET THROUGH"), "a request got through"),
    ]
    for found, wanted in cases:
        expected = {"a": ["200"] if found and found[1] == "accepted" else ["pin-mismatch"]}
        if problem("a", expected, {"a": found} if found else {}) != wanted:
            sys.exit(f"verdicts: error: {found} must be: {wanted or 'right'}")
    if problem("b", {"a": ["200"]}, {"b": right}) != "not in the file":
        sys.exit("verdicts: error: a server that the file does not name must be found")


def judged(client, page, expected):
    """Runs the client against each server of the page. Returns the table's rows: server, what it saw, verdict, problem."""
    listed = servers(fetched(page + "/").decode())
    if urllib.parse.urlsplit(page).hostname != "localhost":
        # One address has no second name, so these two are not served there.
        expected = {name: right for name, right in expected.items() if name in listed or name not in SECOND_NAME}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        policy = os.path.join(folder, "policy.json")
        pathlib.Path(policy).write_bytes(fetched(page + "/policy.json"))
        said = dict(zip(listed, pool.map(lambda name: verdict(client, listed[name][0], policy), listed)))
    # A server counts a connection when it has ended, which may be just after the client.
    deadline = time.monotonic() + 5
    seen = servers(fetched(page + "/").decode())
    while not all(was for _, _, was in seen.values()) and time.monotonic() < deadline:
        time.sleep(0.1)
        seen = servers(fetched(page + "/").decode())
    found = {name: (said[name], *seen[name][1:]) for name in listed}
    rows = []
    for name in [*listed, *(name for name in expected if name not in listed)]:
        text, _, was = found.get(name, ("", "", ""))
        rows.append((name, was or "not reached", text, problem(name, expected, found)))
    return rows


def main(arguments):
    page = arguments[1].rstrip("/") if arguments[:1] == ["--page"] and len(arguments) == 3 else None
    if len(arguments) != (3 if page else 1):
        sys.exit(__doc__)
    prove_the_judge()
    client = os.path.abspath(arguments[-1])
    if not os.access(client, os.X_OK):
        sys.exit(f"verdicts: error: there is no program {client}; build Examples first")
    expected = expectations(EXPECTED.read_text(encoding="utf-8"))
    tool = None if page else Tool(os.environ.get("PINTLE_TOOL", ROOT / ".build/release/pintle"))
    try:
        rows = judged(client, page or tool.page, expected)
    finally:
        if tool:
            tool.close()
    for name, was, text, wrong in rows:
        print(f"{name:30} {was:13} {text[:110]}")
        if wrong:
            print(f"{'':30} ^ {wrong}; expected: {' | '.join(expected.get(name, ['nothing']))}")
    count = sum(1 for row in rows if row[3])
    print(f"verdicts: {len(rows)} servers, " + (f"{count} not as expected" if count else "all as expected"))
    return 1 if count or not rows else 0


sys.exit(main(sys.argv[1:]))
