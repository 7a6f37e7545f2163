#!/usr/bin/env python3
"""Writes the first page of the documentation: what Pintle is, the doors of the README, and every article and type of all
modules in one alphabet, with a search field. usage: site.py SITE"""
import html, json, pathlib, re, sys

TYPES = {"struct": "structure", "class": "class", "enum": "enumeration", "protocol": "protocol", "typealias": "type alias"}
VERSION = r'static let version = "(.*)"'

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pintle: documentation</title>
<style>
:root { color-scheme: light dark; --line: #8884; --dim: light-dark(#555, #aaa); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
a { color: light-dark(#0645ad, #8ab4f8); }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; padding-right: .8rem; }
td { border-top: 1px solid var(--line); padding: .4rem .8rem .4rem 0; vertical-align: top; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; }
ul { list-style: none; padding: 0; }
li { border-top: 1px solid var(--line); padding: .4rem 0; }
small { color: var(--dim); }
</style>
<h1>Pintle <small>VERSION</small></h1>
ABOUT
<h2>Start</h2>
<table>DOORS</table>
<h2>All articles and types</h2>
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off">
<p id="count" aria-live="polite"></p>
<ul id="list">ENTRIES</ul>
<script>
const field = document.getElementById("search"), entries = [...document.querySelectorAll("#list > li")];
function filter() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const entry of entries) {
    const text = entry.textContent.toLowerCase() + " " + entry.dataset.more;
    entry.hidden = !words.every(word => text.includes(word));
    count += entry.hidden ? 0 : 1;
  }
  document.getElementById("count").textContent = `${count} of ${entries.length}`;
}
field.addEventListener("input", filter);
filter();
</script>
</html>
"""


def inline(text):
    """Returns Markdown of one paragraph as HTML: code and links to articles."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\(Sources/(\w+)/\w+\.docc/(\w+)\.md\)",
                  lambda m: f'<a href="documentation/{m[2].lower()}/{m[3].lower()}/">{m[1]}</a>', text)


def words(parts, references):
    """Returns the plain text of inline content."""
    return "".join(
        references.get(part["identifier"], {}).get("title", "") if part["type"] == "reference"
        else part.get("text") or part.get("code") or words(part.get("inlineContent", []), references) for part in parts)


def entries(site):
    """Yields title, kind, module, summary, headings and address of each article and type."""
    for path in sorted((site / "data/documentation").rglob("*.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        data = page["metadata"]
        kind = "article" if data["role"] in ("article", "collectionGroup") else TYPES.get(data.get("symbolKind"))
        # DocC groups inherited members on pages of its own.
        if kind is None or path.stem.endswith("-implementations"):
            continue
        content = [item for section in page.get("primaryContentSections", []) for item in section.get("content", [])]
        headings = " ".join(item["text"] for item in content if item["type"] == "heading")
        address = path.relative_to(site / "data").with_suffix("").as_posix() + "/"
        summary = words(page.get("abstract", []), page.get("references", {}))
        yield data["title"], kind, data["modules"][0]["name"], summary, headings, address


def main(site):
    site = pathlib.Path(site)
    readme = pathlib.Path("README.md").read_text(encoding="utf-8")
    version = re.search(VERSION, pathlib.Path("Sources/PintleConsole/CommandLineTool.swift").read_text())[1]
    about = readme.split("\n\n")[1]
    rows = readme.split("| You have | Start at |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    doors = "<tr><th>You have</th><th>Start at</th></tr>" + "".join(
        "<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row.strip("| ").split(" | ")) + "</tr>" for row in rows)
    found = sorted(entries(site), key=lambda entry: (entry[0].casefold(), entry[5]))
    items = "".join(
        f'<li data-more="{html.escape(headings.lower())}"><a href="{html.escape(address)}">{html.escape(title)}</a> '
        f"<small>{kind}, {module}</small><br>{html.escape(summary)}</li>\n"
        for title, kind, module, summary, headings, address in found)
    values = {"VERSION": version, "ABOUT": f"<p>{inline(about)}</p>", "DOORS": doors, "ENTRIES": items}
    page = re.sub("|".join(values), lambda m: values[m[0]], PAGE)
    dead = [link for link in re.findall('href="([^"]*)"', page) if not (site / link / "index.html").exists()]
    if dead or "](" in page:
        sys.exit(f"docs: error: links of the first page lead nowhere: {' '.join(dead) or 'a door is no article'}")
    (site / "index.html").write_text(page, encoding="utf-8")
    print(f"docs: {len(found)} articles and types on the first page")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
