"""Writes the results of rehearsals as a table with notes."""
BEGIN, END = "<!-- Written by make rehearse-clients -->\n", "<!-- Until here -->\n"
HEAD = "|Client|Let through|Which|Wrongly blocked|Held or inconclusive|\n|---|---|---|---|---|\n"
KINDS = ("letThrough", "blocked", "unfinished")


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
