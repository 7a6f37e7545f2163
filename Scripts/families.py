#!/usr/bin/env python3
"""Checks the file of authority families against certificates, and computes entries for it. Never uses the network.

usage: families.py check FILE [--store DIR]... [--pem FILE]...
       families.py entries [--store DIR]... [--pem FILE]... [WORD]...

check    Checks the form of FILE. Then computes the pin of each certificate and compares it with the entry of that
         name. Exits 1 on a wrong form, pin, name or date. Without --store and --pem it reads /etc/ssl/certs.
entries  Prints an entry for each certificate whose name contains a word, or for each certificate. Replace the file in
         "from" by its public origin: package and version, or repository and commit.
"""
import argparse, collections, json, pathlib, sys

sys.dont_write_bytecode = True
from families_certificates import read
from families_form import form


def check(arguments):
    file = json.loads(pathlib.Path(arguments.words[0]).read_text(encoding="utf-8"))
    errors, counts = list(form(file)), collections.Counter()
    found = read(arguments.store + arguments.pem or ["/etc/ssl/certs"])
    for family, key in [(f, k) for f in file.get("families", []) for k in f["roots"] + f.get("intermediates", [])]:
        name, pin = f"{family['id']}: {key['name']}", key.get("pin")
        named = [c for c in found if key["name"] in c[2]]
        mine = [c for c in found if c[3] == pin]
        others = [c for c in named if c[3] != pin]
        if pin is None:
            result = "missing" + "".join(f"; but {c[1]} has {c[3]}" for c in others[:1])
        else:
            errors += [f"{name}: {c[1]} has {c[3]}" for c in others]
            if mine and not any(key["name"] in c[2] for c in mine):
                errors.append(f"{name}: {mine[0][1]} with this key has the name {mine[0][2][0]}")
            if mine and key["notAfter"] not in [c[4] for c in mine]:
                errors.append(f"{name}: {mine[0][1]} with this key ends on {mine[0][4]}")
            result = f"confirmed by {len({c[0] for c in mine})} sources" if mine else "not found"
        counts[result.split(";")[0]] += 1
        print(f"{name}: {result}")
    print(f"{len(found)} certificates read;", ", ".join(f"{counts[r]} {r}" for r in sorted(counts)))
    sys.stderr.writelines(f"families: error: {error}\n" for error in errors)
    return bool(errors)


def entries(arguments):
    for _, file, names, pin, end in read(arguments.store + arguments.pem or ["/etc/ssl/certs"]):
        if any(word.lower() in " ".join(names).lower() for word in arguments.words or [""]):
            print(json.dumps({"name": names[0], "pin": pin, "notAfter": end, "from": str(file)}, ensure_ascii=False))


parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
parser.add_argument("command", choices=["check", "entries"])
parser.add_argument("words", nargs="*")
for option in ("--store", "--pem"):
    parser.add_argument(option, action="append", default=[])
options = parser.parse_intermixed_args()
if options.command == "check" and len(options.words) != 1:
    parser.error("check needs one file")
sys.exit(check(options) if options.command == "check" else entries(options))
