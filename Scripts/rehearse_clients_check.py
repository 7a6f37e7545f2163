"""Compares the article about clients with the file of clients and the catalogue of attacks."""
import os, re

from rehearse_clients_table import BEGIN, END

CLIENT = {"id", "name", "does", "needs", "version", "run", "because"}
OPTIONAL = {"source", "built", "build", "options"}
CAUSE = {"id", "label", "attacks", "line"}


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
