#!/usr/bin/env python3
"""Rehearses attacks on the clients of Examples/clients, and writes the table of the article "What clients let through".

usage: rehearse_clients.py run [ID]... | survey [ID]... | table | check

run    Runs the clients that are installed. Writes .build/clients/results.json and the table. With IDs, runs only these
       and keeps the other results.
survey Surveys the clients that use a proxy, and compares the answers with those results: a client is pinned or unpinned.
       Without requests, handshake-only stands for unpinned.
table  Writes the table again, from .build/clients/results.json.
check  Compares the article with the clients and with `pintle rehearse --list`.

Installs nothing and uses only loopback. $PINTLE_TOOL names the tool; without it, it is .build/release/pintle.
"""
import json, os, pathlib, re, shutil, subprocess, sys

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
DATA, RESULTS = pathlib.Path("Examples/clients/clients.json"), pathlib.Path(".build/clients/results.json")
ARTICLE = pathlib.Path("Sources/PintleTools/PintleTools.docc/ClientTable.md")
BUILT = pathlib.Path(".build/clients")
OUTCOMES = {"let-through": "letThrough", "blocked": "blocked", "held": "unfinished", "inconclusive": "unfinished"}
BEGIN, END = "<!-- Written by make rehearse-clients -->\n", "<!-- Until here -->\n"
HEAD = "|Client|Let through|Which|Wrongly blocked|Held or inconclusive|\n|---|---|---|---|---|\n"
KINDS = ("letThrough", "blocked", "unfinished")
CLIENT = {"id", "name", "does", "needs", "version", "run", "because"}
OPTIONAL = {"source", "built", "build", "options"}
CAUSE = {"id", "label", "attacks", "line"}


class Bench:
    """Finds, builds and rehearses the clients. Installs nothing."""

    def __init__(self, tool):
        venv = BUILT / "venv/bin/python"
        python = venv if venv.exists() else "python3"
        self.words = {"built": BUILT, "tool": tool, "products": os.path.dirname(tool), "python": python}

    def filled(self, words):
        """Replaces the placeholders of the clients' file. `pintle rehearse` replaces the others."""
        return [re.sub(r"\{(\w+)\}", lambda m: str(self.words.get(m[1], m[0])), word) for word in words]

    def output(self, words, **options):
        standard = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        return subprocess.run(self.filled(words), **standard | options)

    def missing(self, needs):
        """Returns how to get what the client needs, or None if all is here."""
        modules, programs = needs.get("python", []), needs.get("programs", [])
        if not all(map(shutil.which, programs)) or not all(map(os.path.exists, needs.get("files", []))):
            return "apt-get install " + " ".join(needs["debian"]) if "debian" in needs else "install " + programs[0]
        test = ["{python}", "-c", "".join(f"import {module}\n" for module in modules)]
        if modules and self.output(test, stderr=subprocess.DEVNULL).returncode:
            return f"python3 -m venv {BUILT}/venv && {BUILT}/venv/bin/pip install " + " ".join(modules)
        return None

    def build(self, client):
        """Compiles the client unless its program is newer than its source."""
        source, built = (pathlib.Path(path) for path in self.filled([client["source"], client["built"]]))
        if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
            built.parent.mkdir(parents=True, exist_ok=True)
            self.output(client["build"], check=True)

    def attacks(self):
        """Returns the ids of the attacks that can be run, the right server first, in the order of the tool."""
        listed = json.loads(self.output(["{tool}", "rehearse", "--list", "--json"], check=True).stdout)
        return [attack["id"] for attack in listed if "expected" in attack]

    def system(self):
        names = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
        return names.get("PRETTY_NAME", "an unknown system")

    def result(self, client):
        """Returns the version and the attacks that did not end as they must, or how to get a client that is missing."""
        if missing := self.missing(client["needs"]):
            return {"missing": missing}
        if "build" in client:
            self.build(client)
        version = self.output(client["version"]["command"], stderr=subprocess.STDOUT).stdout
        found = {"version": re.search(client["version"]["pattern"], version)[1], "run": 0}
        found |= {kind: [] for kind in OUTCOMES.values()}
        words = ["{tool}", "rehearse", "--json", *client.get("options", []), "--", *client["run"]]
        rows = json.loads(self.output(words, stderr=subprocess.PIPE).stdout)
        if isinstance(rows, dict):  # an error; only that the client does not accept the right server is a result
            if rows["error"]["code"] != "control-failed":
                sys.exit(f"clients: error: {client['id']}: {rows['error']['message']}")
            kind = "blocked" if "refused" in rows["error"]["message"] else "unfinished"
            return found | {kind: ["control"]}
        found["requests"] = any(row["id"] == "control" and row["requestBytes"] > 0 for row in rows)
        rows = [row for row in rows if row["outcome"] != "not-run" and row["id"] != "control"]
        for row in [row for row in rows if not row["isAsItMustBe"]]:
            found[OUTCOMES[row["outcome"]]].append(row["id"])
        return found | {"run": len(rows)}

    def answer(self, client):
        """Returns what a survey says about the client, or the code of its error."""
        words = ["{tool}", "rehearse", "--proxy", "--survey", "--json", "--host", "api.example.com", "--timeout", "20"]
        found = json.loads(self.output([*words, "--", *client["run"]], stderr=subprocess.PIPE).stdout)
        if "error" in found:
            return found["error"]["code"]
        return next((host["answer"] for host in found["hosts"] if host["host"] == "api.example.com"), "not asked for")


def replaced(article, text):
    return article.split(BEGIN)[0] + BEGIN + text + END + article.split(END)[1]


def explained(data, results):
    """Returns {(client, attack): cause}, {cause: its attacks}, and what is out of step with the results."""
    causes, because, found, remarks = {c["id"]: c for c in data["causes"]}, {}, {}, []
    for client in [c for c in data["clients"] if "missing" not in results[c["id"]]]:
        name, result = client["id"], results[client["id"]]
        for attack in [attack for kind in KINDS for attack in result[kind]]:
            cause = next((c for c in client["because"] if attack in causes[c]["attacks"]), None)
            if cause is None:
                remarks.append(f"explanation missing: {attack} in {name}")
                continue
            because[name, attack] = cause
            found.setdefault(cause, set()).add(attack)
        used = {cause for (who, _), cause in because.items() if who == name}
        remarks += [f"explanation not needed: {cause} in {name}" for cause in client["because"] if cause not in used]
    return because, found, remarks


def cell(attacks, because, found, labels):
    """Returns the attacks' ids. A cause's label, with a count, stands for its attacks if all of them are here."""
    words, done = [], set()
    for attack in attacks:
        cause = because.get(attack)
        group = [a for a in attacks if cause and because.get(a) == cause] or [attack]
        whole = len(group) > 1 and set(group) == found[cause]
        if attack not in done:
            words += [f"{labels[cause]} ({len(group)})"] if whole else [f"`{a}`" for a in group]
        done |= set(group)
    return ", ".join(words) or "none"


def table(data, measured, order):
    """Returns the table with its notes, and remarks on what the file of clients lacks."""
    results = {c["id"]: measured["clients"].get(c["id"], {"missing": "run it again"}) for c in data["clients"]}
    because, found, remarks = explained(data, results)
    labels, lines, notes = {cause["id"]: cause["label"] for cause in data["causes"]}, [], []
    for client in data["clients"]:
        name, result = client["id"], results[client["id"]]
        if "missing" in result:
            lines.append(f"|{client['name']}|not installed|none|none|none|")
            remarks.append(f"{name} is not installed: {result['missing']}")
            continue
        count = f"{len(result['letThrough'])} of {result['run']}" if result["run"] else "no verdict"
        mine = {attack: cause for (who, attack), cause in because.items() if who == name}
        cells = [cell(result[kind], mine, found, labels) for kind in KINDS]
        lines.append("|" + "|".join([f"{client['name']} {result['version']}", count, *cells]) + "|")
    for cause in [cause for cause in data["causes"] if cause["id"] in found]:
        ids = ", ".join(f"`{attack}`" for attack in order if attack in found[cause["id"]])
        notes.append(f"- {cause['label']} ({ids}): {cause['line']}" if ", " in ids else f"- {ids}: {cause['line']}")
    return f"{HEAD}{chr(10).join(lines)}\n\nRun on {measured['system']}.\n\n{chr(10).join(notes)}\n", remarks


def problems(data, article, attacks):
    """Yields what is wrong with the file of clients, then with the table and its notes."""
    causes = {cause["id"]: cause for cause in data["causes"]}
    for group, keys, optional in (("causes", CAUSE, set()), ("clients", CLIENT, OPTIONAL)):
        ids = [item.get("id") for item in data[group]]
        yield from (f"{i}: is there twice" for i in sorted({i for i in ids if ids.count(i) > 1}))
        for item in data[group]:
            if set(item) - optional != keys:
                yield f"{item.get('id')}: needs {', '.join(sorted(keys))}, and no unknown key"
    for client in data["clients"]:
        yield from (f"{client['id']}: no cause is called {c}" for c in client["because"] if c not in causes)
        files = [word for word in [client.get("source", ""), *client["run"]] if re.match("(Examples|Snippets)/", word)]
        yield from (f"{client['id']}: {file} does not exist" for file in files if not os.path.exists(file))
    for cause in data["causes"]:
        yield from (f"{cause['id']}: no attack is called {a}" for a in cause["attacks"] if a not in attacks)
    if article.count(BEGIN) != 1 or article.count(END) != 1:
        return (yield "the article needs each of the two markers once")
    part = article.split(BEGIN)[1].split(END)[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")][2:]
    if len(rows) != len(data["clients"]):
        yield f"the table has {len(rows)} rows, and the file {len(data['clients'])} clients"
    for row, client in zip(rows, data["clients"]):
        if not row[0].startswith(client["name"]):
            yield f"the table has the row {row[0]} in the place of {client['name']}"
        words = [re.sub(r" \(\d+\)$|`", "", word) for cell in row[2:] for word in cell.split(", ")]
        allowed = {"none", *attacks, *(causes[c]["label"] for c in client["because"])}
        yield from (f"{client['id']}: {w} in the table is no attack and no cause" for w in words if w not in allowed)
    lines = {cause["line"] for cause in data["causes"]}
    for note in [line for line in part.splitlines() if line.startswith("- ")]:
        ids, line = note.split(": ", 1)
        if line not in lines:
            yield f"this note is not in the file: {note}"
        yield from (f"a note names the attack {i}" for i in re.findall("`(.+?)`", ids) if i not in attacks)


def run(data, bench, ids):
    old = json.loads(RESULTS.read_text())["clients"] if ids and RESULTS.exists() else {}
    results = {}
    for client in data["clients"]:
        if ids and client["id"] not in ids:
            results |= {client["id"]: old[client["id"]]} if client["id"] in old else {}
            continue
        result = results[client["id"]] = bench.result(client)
        ends = ", ".join(f"{len(result.get(kind, []))} {kind}" for kind in KINDS)
        print(f"{client['id']}: " + (f"missing; {result['missing']}" if "missing" in result else ends), flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps({"system": bench.system(), "clients": results}, indent=1) + "\n")


def survey(data, bench, ids):
    """Returns True if a survey contradicts the results of the attacks."""
    results, wrong = json.loads(RESULTS.read_text())["clients"], []
    for client in data["clients"]:
        known = results.get(client["id"], {"missing": "run it first"})
        if ids and client["id"] not in ids or "missing" in known:
            continue
        exposed = "unpinned" if known.get("requests", True) else "handshake-only"
        expected = exposed if "trusted-interceptor" in known["letThrough"] else "pinned"
        answer = bench.answer(client)
        print(f"{client['id']}: {answer}", flush=True)
        if answer not in (expected, "proxy-not-used", "control-failed"):
            wrong.append(f"clients: error: {client['id']} is {answer} in a survey, and {expected} in the attacks\n")
    sys.stderr.writelines(wrong)
    return bool(wrong)


def main(command, *ids):
    data = json.loads(DATA.read_text(encoding="utf-8"))
    bench = Bench(os.environ.get("PINTLE_TOOL", ".build/release/pintle"))
    if not os.path.exists(bench.words["tool"]):
        sys.exit(f"clients: error: there is no {bench.words['tool']}; make build builds it")
    if unknown := set(ids) - {client["id"] for client in data["clients"]}:
        sys.exit(f"clients: error: {DATA} has no client {', '.join(sorted(unknown))}")
    if command == "survey":
        return survey(data, bench, ids)
    if command == "run":
        run(data, bench, ids)
    if command in ("run", "table"):
        text, remarks = table(data, json.loads(RESULTS.read_text()), bench.attacks())
        ARTICLE.write_text(replaced(ARTICLE.read_text(encoding="utf-8"), text), encoding="utf-8")
        print(*remarks, sep="\n", end="\n" if remarks else "")
    found = list(problems(data, ARTICLE.read_text(encoding="utf-8"), bench.attacks()))
    sys.stderr.writelines(f"clients: error: {problem}\n" for problem in found)
    return bool(found)


if len(sys.argv) < 2 or sys.argv[1] not in ("run", "survey", "table", "check"):
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
