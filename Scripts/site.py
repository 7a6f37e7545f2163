#!/usr/bin/env python3
"""Writes the first page of the documentation: what Pintle is, the doors of the README, and a search in the text of all articles, types
and examples. The text is in a file beside the page, so that the search needs no network. Gives each page links to the search and the examples, the
sidebar all modules, and comments in code more contrast. usage: site.py SITE"""
import html, json, pathlib, re, sys

TYPES = {"struct": "structure", "class": "class", "enum": "enumeration", "protocol": "protocol", "typealias": "type alias"}
VERSION = r'static let version = "(.*)"'

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pintle: TITLE</title>
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
pre { overflow-x: auto; background: #8881; padding: .6rem; }
.scrolls { overflow-x: auto; overflow-wrap: normal; }
ul.text { list-style: disc; padding-left: 1.2rem; }
ul.text li { border: 0; padding: 0; }
mark { background: light-dark(#fe8, #640); color: inherit; }
</style>
"""

PAGE = HEAD.replace("TITLE", "documentation") + """<h1>Pintle <small>VERSION</small></h1>
ABOUT
<label for="search">Search all pages</label>
<input id="search" type="search" autocomplete="off">
<p id="count" aria-live="polite"></p>
<ul id="found"></ul>
<div id="start">
<h2>Start</h2>
<table>DOORS</table>
<p><a href="examples/">Examples</a>: programs for Linux, an iOS app, plans of rotations, recipes for continuous integration, clients to attack.</p>
<h2>All articles and types</h2>
<ul>ENTRIES</ul>
</div>
<script src="search.js"></script>
<script>
// A page is [title, kind, address, text, sections], and a section is [heading, anchor, text].
const field = document.getElementById("search");
const make = (name, content) => { const it = document.createElement(name); it.textContent = content; return it; };
// "rotate" also finds "rotation" and "rotating".
const stem = word => { const it = word.replace(/(ions?|ing|ed|es|e|s)$/, ""); return it.length < 4 ? word : it; };
function rank(page, words) {
  const [title, , , text, sections] = page;
  const all = [title, text, ...sections.map(it => it[0] + " " + it[2])].join(" ").toLowerCase();
  if (!words.every(word => all.includes(stem(word)))) return 0;
  const phrase = words.join(" ");
  return 1 + (page[1] == "article" || page[1] == "module" ? 2 : 0) + (all.includes(phrase) ? 4 : 0)
    + (words.every(word => title.toLowerCase().includes(stem(word))) ? 8 : 0)
    + Math.min(3, all.split(stem(words[0])).length / 4);
}
function excerpt(text, words) {
  const low = text.toLowerCase();
  let place = low.indexOf(words.join(" "));
  if (place < 0) place = low.indexOf(stem(words[0]));
  const from = place < 60 ? 0 : text.indexOf(" ", place - 60) + 1;
  const line = document.createElement("div");
  const escaped = words.map(word => stem(word).replace(/[^a-z0-9]/g, "\\\\$&"));
  text.slice(from, from + 180).split(new RegExp("((?:" + escaped.join("|") + ")[a-z]*)", "i")).forEach((part, index) =>
    line.append(index % 2 ? make("mark", part) : part));
  return line;
}
function show() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  document.getElementById("start").hidden = words.length > 0;
  const list = document.getElementById("found"), count = document.getElementById("count");
  list.replaceChildren();
  count.textContent = "";
  if (!words.length) return;
  const found = pages.map(page => [rank(page, words), page]).filter(it => it[0]).sort((a, b) => b[0] - a[0]);
  count.textContent = found.length ? `${found.length} of ${pages.length} pages` : "No page has these words.";
  for (const [, [title, kind, address, text, sections]] of found.slice(0, 50)) {
    const item = document.createElement("li"), link = make("a", title);
    link.href = address;
    item.append(link, " ", make("small", kind));
    const has = (words, it) => words.every(word => it.toLowerCase().includes(stem(word)));
    const inside = sections.filter(it => has(words, it[0] + " " + it[2])).slice(0, 3);
    if (!inside.length) item.append(excerpt(has(words.slice(0, 1), text) ? text : sections.find(it =>
      has(words.slice(0, 1), it[2]))?.[2] ?? text, words));
    for (const [heading, anchor, text] of inside) {
      const section = make("a", heading);
      section.href = address + "#" + anchor;
      item.append(document.createElement("br"), section, excerpt(text, words));
    }
    list.append(item);
  }
}
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", show);
show();
</script>
</html>
"""

# DocC's pages show the content of this template above their own header.
HEADER = """<template id="custom-header"><style>
div { display: flex; gap: 1rem; align-items: center; padding: .4rem 1.4rem; font: 15px system-ui, sans-serif;
  background: var(--color-fill-secondary, Canvas); color: var(--color-text, CanvasText); }
a { color: inherit; font-weight: 600; }
form { flex: 1; text-align: right; }
input { font: inherit; width: min(100%, 20rem); box-sizing: border-box; padding: .25rem .5rem; color: inherit;
  background: var(--color-fill, Canvas); border: 1px solid #888; border-radius: 4px; }
</style><div><a href="/">Start</a><a href="/examples/">Examples</a><form action="/" role="search">
<input type="search" name="q" placeholder="Search all pages" aria-label="Search all pages"></form></div></template>"""


def inline(text):
    """Returns Markdown of one paragraph as HTML: code and links to articles."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\(Sources/(\w+)/\w+\.docc/(\w+)\.md\)",
                  lambda m: f'<a href="documentation/{m[2].lower()}/{m[3].lower()}/">{m[1]}</a>', text)


def markdown(text, section):
    """Returns Markdown as HTML, with headings two levels lower. It has paragraphs, lists, tables and code.
    section(PATH) returns the address of a linked file, or None, and then the link is plain text."""
    def line(text):
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
        def link(match):
            address = section(match[2])
            return f'<a href="{address}">{match[1]}</a>' if address else match[1]
        return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text))
    def block(text):
        if text.startswith("```"):
            return f"<pre><code>{html.escape(text.split(chr(10), 1)[1].rsplit(chr(10), 1)[0])}</code></pre>"
        if mark := re.match(r"(#+) ", text):
            level = len(mark[1]) + 1
            return f"<h{level}>{line(text[mark.end():])}</h{level}>"
        if text.startswith("|"):
            rows = [re.split(r" \| ", row.strip("| ")) for row in text.splitlines()]
            cells = lambda row, name: "<tr>" + "".join(f"<{name}>{line(cell)}</{name}>" for cell in row) + "</tr>"
            return '<div class="scrolls"><table>' + cells(rows[0], "th") + "".join(
                cells(row, "td") for row in rows[2:]) + "</table></div>"
        if re.match(r"(- |\d+\. )", text):
            name = "ul" if text.startswith("- ") else "ol"
            items = re.split(r"^(?:- |\d+\. )", text, flags=re.M)[1:]
            return f'<{name} class="text">' + "".join(f"<li>{line(item)}</li>" for item in items) + f"</{name}>"
        return f"<p>{line(text)}</p>"
    return "\n".join(block(part) for part in split(text))


def split(text):
    """Yields the blocks of Markdown, which blank lines and code fences separate."""
    part, isCode = [], False
    for line in text.splitlines() + [""]:
        isFence = line.startswith("```")
        if part and not isCode and (isFence or not line or line.startswith("|") != part[0].startswith("|")):
            yield "\n".join(part)
            part = []
        if line or isCode:
            part.append(line)
        if isFence and isCode:
            yield "\n".join(part)
            part = []
        isCode = isCode != isFence


def examples(site):
    """Writes a page with the text of all READMEs of the examples, and yields title, address and text of each."""
    page = HEAD.replace("TITLE", "examples") + '<p><a href="../">Start</a></p>\n'
    root = pathlib.Path("Examples")
    for path in [root / "README.md", *sorted(root.glob("*/README.md"))]:
        name = path.parent.name
        def section(link):
            target = (path.parent / link).resolve()
            known = target.name == "README.md" and target.parent.parent == root.resolve()
            return f"#{target.parent.name}" if known else link if "://" in link else None
        text = path.read_text(encoding="utf-8")
        page += f'<section id="{name}">\n{markdown(text, section)}\n'
        page += f"<p><small>Files: <code>{path.parent}</code> in the repository</small></p>\n</section>\n"
        yield text.splitlines()[0].lstrip("# "), f"examples/#{name}", re.sub(r"\s+", " ", re.sub(r"[`#|*]", "", text))
    (site / "examples").mkdir(exist_ok=True)
    (site / "examples/index.html").write_text(page + "</html>\n", encoding="utf-8")


def words(part, references):
    """Returns the plain text of a part of a page: inline content, a list, a table or code."""
    if isinstance(part, list):
        return " ".join(words(item, references) for item in part)
    if not isinstance(part, dict):
        return ""
    if part.get("type") == "reference":
        return references.get(part["identifier"], {}).get("title", "")
    if part.get("type") == "codeListing":
        return " ".join(part["code"])
    if part.get("type") in ("text", "codeVoice"):
        return part.get("text") or part.get("code") or ""
    inside = [part[key] for key in ("inlineContent", "content", "items", "rows", "term", "definition") if key in part]
    # Inline content has its own blanks.
    return "".join(words(item, references) for item in inside[0]) if "inlineContent" in part else words(inside, references)


def entries(site):
    """Yields title, kind, summary, address, text and sections of each module, article and type."""
    for path in sorted((site / "data/documentation").rglob("*.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        data = page["metadata"]
        kind = ("module" if data.get("symbolKind") == "module" or data["role"] == "collection"
                else "article" if data["role"] in ("article", "collectionGroup") else TYPES.get(data.get("symbolKind")))
        # DocC groups inherited members on pages of its own.
        if kind is None or path.stem.endswith("-implementations"):
            continue
        references = page.get("references", {})
        summary = words({"inlineContent": page.get("abstract", [])}, references)
        text, sections = [summary], []
        for block in (item for section in page.get("primaryContentSections", []) for item in section.get("content", [])):
            if block["type"] == "heading":
                sections.append([block["text"], block["anchor"], []])
            else:
                (sections[-1][2] if sections and sections[-1][0] != "Overview" else text).append(words(block, references))
        def line(parts):
            return re.sub(r"\s+", " ", " ".join(parts)).strip()
        module = data["modules"][0]["name"]
        yield (data["title"], kind, kind if kind == "module" else f"{kind}, {module}", summary,
               path.relative_to(site / "data").with_suffix("").as_posix() + "/", line(text),
               [[heading, anchor, line(parts)] for heading, anchor, parts in sections if heading != "Overview"])


def main(site):
    site = pathlib.Path(site)
    readme = pathlib.Path("README.md").read_text(encoding="utf-8")
    version = re.search(VERSION, pathlib.Path("Sources/PintleConsole/CommandLineTool.swift").read_text())[1]
    about = readme.split("\n\n")[1]
    rows = readme.split("| You have | Start at |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    doors = "<tr><th>You have</th><th>Start at</th></tr>" + "".join(
        "<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row.strip("| ").split(" | ")) + "</tr>" for row in rows)
    found = sorted(entries(site), key=lambda entry: (entry[0].casefold(), entry[4]))
    items = "".join(
        f'<li><a href="{html.escape(address)}">{html.escape(title)}</a> <small>{label}</small><br>{html.escape(summary)}</li>\n'
        for title, _, label, summary, address, _, _ in found)
    others = [[title, "example", address, text, []] for title, address, text in examples(site)]
    values = {"VERSION": version, "ABOUT": f"<p>{inline(about)}</p>", "DOORS": doors, "ENTRIES": items}
    page = re.sub("|".join(values), lambda m: values[m[0]], PAGE)
    links = re.findall('href="([^"]*)"', page)
    dead = [link for link in links if not (site / link / "index.html").exists()]
    if dead or "](" in doors:
        sys.exit(f"docs: error: links of the first page lead nowhere: {' '.join(dead) or 'a door is no article'}")
    mute = [title for title, kind, _, _, _, text, sections in found if kind == "article" and not (text and sections or len(text) > 200)]
    if mute:
        sys.exit(f"docs: error: the search has no text of {', '.join(mute)}")
    (site / "index.html").write_text(page, encoding="utf-8")
    pages = [[title, kind, address, text, sections] for title, kind, _, _, address, text, sections in found] + others
    (site / "search.js").write_text(f"const pages = {json.dumps(pages, ensure_ascii=False)};\n", encoding="utf-8")

    for path in (site / "documentation").rglob("index.html"):
        text = path.read_text(encoding="utf-8")
        body = '<body data-color-scheme="auto">'
        if text.count(body) != 1:
            sys.exit(f"docs: error: {path} has no place for the header")
        path.write_text(text.replace(body, body + HEADER), encoding="utf-8")
    # DocC's sidebar shows one module of several, but the whole of a tree that has only one module.
    index = json.loads((site / "index/index.json").read_text(encoding="utf-8"))
    for root in index["interfaceLanguages"]["swift"]:
        for module in root["children"]:
            module["type"] = "collection"
        root["title"] = "All modules"
    (site / "index/index.json").write_text(json.dumps(index), encoding="utf-8")
    # DocC's comments in code have a contrast of 3.8 on white.
    theme = {"theme": {"color": {"syntax-comments": {"light": "#59636e", "dark": "#9ba6b2"}}}}
    (site / "theme-settings.json").write_text(json.dumps(theme), encoding="utf-8")
    print(f"docs: {len(found)} modules, articles and types on the first page")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
