"""Checks the form of the file of authority families."""
import base64, datetime, re

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FILE = {"version", "date", "families", "edges"}
FAMILY = {"id", "name", "aliases", "sources", "advice", "lifetimes", "rotation", "roots", "intermediates"}
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
            for key in item.get("roots", []) + item.get("intermediates", []):
                name = f"{where}: {key.get('name', '?')}"
                if set(key) - KEY or not key.get("name") or ("missing" in key) == ("pin" in key):
                    yield f"{name}: needs a name and either a pin or \"missing\", and no unknown key"
                elif "pin" in key and not (is_pin(key["pin"]) and key.get("from") and is_date(key.get("notAfter"))):
                    yield f"{name}: needs a pin of 32 bytes, the last day and \"from\""
                elif "pin" in key and key["notAfter"] < file["date"]:
                    yield f"{name}: expired before the date of the file"
                elif "pin" in key and pins.setdefault(key["pin"], name) != name:
                    yield f"{name}: has the same pin as {pins[key['pin']]}"
