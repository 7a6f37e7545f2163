#!/usr/bin/env python3
"""Checks the file of authority families against certificates, and computes entries for it. Never uses the network.

usage: families.py check FILE [--store DIR]... [--pem FILE]...
       families.py entries [--store DIR]... [--pem FILE]... [WORD]...

check    Checks the form of FILE. Then computes the pin of each certificate and compares it with the entry of that
         name. Exits 1 on a wrong form, pin, name or date. Without --store and --pem it reads /etc/ssl/certs.
entries  Prints an entry for each certificate whose name contains a word, or for each certificate. Replace the file in
         "from" by its public origin: package and version, or repository and commit.
"""
import argparse, base64, collections, datetime, hashlib, json, pathlib, re, subprocess, sys

# The certificates, which the command openssl reads.

PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.S)
SUFFIXES = {".crt", ".pem", ".der", ".cer"}


def certificates(path):
    """Yields the DER encoding of each certificate of a file."""
    data = path.read_bytes()
    blocks = [base64.b64decode(block) for block in PEM.findall(data)]
    yield from blocks or ([data] if data[:1] == b"\x30" else [])


def describe(der):
    """Returns the names by which an entry can call a certificate, the best first, its pin and its last day."""
    command = ["openssl", "x509", "-inform", "DER", "-noout", "-subject", "-nameopt", "multiline,utf8,-esc_msb"]
    text = subprocess.run(command + ["-enddate", "-pubkey"], input=der, capture_output=True, check=True).stdout.decode()
    field = dict(re.findall(r"^ +(\w+) += (.*)$", text, re.M))
    common, unit, organization = (field.get(k + "Name", "") for k in ("common", "organizationalUnit", "organization"))
    # "GlobalSign" has one common name for several roots, and Let's Encrypt's are as short as "R10".
    names = [unit] * (common == organization) + [common, f"{organization} {common}"]
    key = base64.b64decode("".join(re.search(r"PUBLIC KEY-----(.*?)-----END", text, re.S)[1].split()))
    end = datetime.datetime.strptime(re.search(r"notAfter=(.*)", text)[1], "%b %d %H:%M:%S %Y %Z")
    return [n for n in names if n], "sha256/" + base64.b64encode(hashlib.sha256(key).digest()).decode(), str(end.date())


def read(sources):
    """Returns (source, file, names, pin, last day) of each certificate, each certificate once a source."""
    found = []
    for source in sources:
        seen, path = set(), pathlib.Path(source)
        files = [p for p in sorted(path.rglob("*")) if p.suffix in SUFFIXES] if path.is_dir() else [path]
        for file in files:
            for der in certificates(file):
                if der not in seen:
                    seen.add(der)
                    found.append((source, file, *describe(der)))
    return found


# The form of the file.

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FILE = {"version", "date", "families", "edges"}
FAMILY = {"id", "name", "aliases", "sources", "advice", "lifetimes", "rotation", "roots", "intermediates", "retired"}
EDGE = {"id", "name", "aliases", "families", "sources", "advice"}
KEY = {"name", "pin", "notAfter", "from", "missing", "note"}


def is_date(text):
    try:
        return bool(datetime.datetime.strptime(text, "%Y-%m-%d")) and len(text) == 10
    except (TypeError, ValueError):
        return False


def is_pin(text):
    return re.fullmatch("sha256/[A-Za-z0-9+/]{43}=", text) and len(base64.b64decode(text[7:])) == 32


def form(file):
    """Yields what is wrong with the form of the file."""
    if set(file) != FILE or file["version"] != 1 or not is_date(file["date"]):
        return (yield "the file needs version 1, a date, families and edges, and nothing else")
    words, pins, ids = set(), {}, {family.get("id") for family in file["families"]}
    for group, allowed in (("families", FAMILY), ("edges", EDGE)):
        for item in file[group]:
            where = item.get("id", "?")
            if set(item) - allowed or not ID.fullmatch(where) or not item.get("name") or not item.get("sources"):
                yield f"{where}: needs an id in lower case, a name and sources, and no unknown key"
            for word in [where] + item.get("aliases", []):
                if word in words or words.add(word) or word != word.lower():
                    yield f"{where}: {word} is not unique or not in lower case"
            for unknown in [f for f in item.get("families", []) if f not in ids]:
                yield f"{where}: {unknown} is no family of this file"
            if group == "edges" and not item.get("families") or group == "families" and not item.get("roots"):
                yield f"{where}: an edge needs families, and a family needs roots"
            sources = item["sources"] + item.get("advice", []) + item.get("rotation", {"sources": []})["sources"]
            for lifetime in item.get("lifetimes", []):
                sources += lifetime["sources"]
                if not isinstance(lifetime.get("days"), int) or "from" in lifetime and not is_date(lifetime["from"]):
                    yield f"{where}: a lifetime needs days, and its date has the form 2026-01-31"
            for source in sources:
                whole = set(source) == {"url", "read", "sentence"} and all(source.values())
                if not whole or not source["url"].startswith("https://") or not is_date(source["read"]):
                    yield f"{where}: a source needs an https address, the day it was read and a sentence"
            retired = item.get("retired", [])
            for key in item.get("roots", []) + item.get("intermediates", []) + retired:
                name = f"{where}: {key.get('name', '?')}"
                if set(key) - KEY or not key.get("name") or ("missing" in key) == ("pin" in key):
                    yield f"{name}: needs a name and either a pin or \"missing\", and no unknown key"
                elif "pin" in key and not (is_pin(key["pin"]) and key.get("from") and is_date(key.get("notAfter"))):
                    yield f"{name}: needs a pin of 32 bytes, the last day and \"from\""
                elif ("pin" in key and key["notAfter"] < file["date"]) != (key in retired):
                    yield f"{name}: a key is retired if and only if its last day is before the date of the file"
                elif "pin" in key and pins.setdefault(key["pin"], name) != name:
                    yield f"{name}: has the same pin as {pins[key['pin']]}"


# The commands.


def check(arguments):
    file = json.loads(pathlib.Path(arguments.words[0]).read_text(encoding="utf-8"))
    errors, counts = list(form(file)), collections.Counter()
    found = read(arguments.store + arguments.pem or ["/etc/ssl/certs"])
    lists = ("roots", "intermediates", "retired")
    for family, key in [(f, k) for f in file.get("families", []) for name in lists for k in f.get(name, [])]:
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
