#!/usr/bin/env python3
"""Rehearses attacks on the clients of Examples/clients, and writes the table of the article "What clients let through".

usage: rehearse_clients.py run [ID]... | table | check

run    Runs the clients that are installed. Writes .build/clients/results.json and the table. With IDs, runs only these
       and keeps the other results.
table  Writes the table again, from .build/clients/results.json.
check  Compares the article with the clients and with `pintle rehearse --list`.

Installs nothing and uses only loopback. $PINTLE_TOOL names the tool; without it, it is .build/release/pintle.
"""
import json, os, pathlib, sys

sys.dont_write_bytecode = True
from rehearse_clients_check import problems
from rehearse_clients_run import Bench
from rehearse_clients_table import KINDS, replaced, table

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
DATA, RESULTS = pathlib.Path("Examples/clients/clients.json"), pathlib.Path(".build/clients/results.json")
ARTICLE = pathlib.Path("Sources/PintleTools/PintleTools.docc/ClientTable.md")


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


def main(command, *ids):
    data = json.loads(DATA.read_text(encoding="utf-8"))
    bench = Bench(os.environ.get("PINTLE_TOOL", ".build/release/pintle"))
    if not os.path.exists(bench.words["tool"]):
        sys.exit(f"clients: error: there is no {bench.words['tool']}; make build builds it")
    if unknown := set(ids) - {client["id"] for client in data["clients"]}:
        sys.exit(f"clients: error: {DATA} has no client {', '.join(sorted(unknown))}")
    if command == "run":
        run(data, bench, ids)
    if command in ("run", "table"):
        text, remarks = table(data, json.loads(RESULTS.read_text()), bench.attacks())
        ARTICLE.write_text(replaced(ARTICLE.read_text(encoding="utf-8"), text), encoding="utf-8")
        print(*remarks, sep="\n", end="\n" if remarks else "")
    found = list(problems(data, ARTICLE.read_text(encoding="utf-8"), bench.attacks()))
    sys.stderr.writelines(f"clients: error: {problem}\n" for problem in found)
    return bool(found)


if len(sys.argv) < 2 or sys.argv[1] not in ("run", "table", "check"):
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
