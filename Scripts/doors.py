#!/usr/bin/env python3
"""Prints what each door of the library brings with it: the modules that a user's import compiles, their files, lines, tokens and
public types. Scripts/doors.txt has the table, so that a change shows what it adds to which door. There is no limit.

    doors.py          prints the table
    doors.py write    prints it and writes Scripts/doors.txt, which accepts a change: `make doors`
    doors.py check    fails if modules or public types differ from Scripts/doors.txt, or another number by more than 1 %

The modules are those of `swift package describe`; for Apple's systems those of Tests/StandIns, which has the same targets. Files and
lines are whole, with comments and with the branches of other systems. A token is a word, a number, a string literal, a bracket or a
run of other signs, outside of comments. A public type is a struct, class, enum, actor, protocol or typealias that is `public` or
`open`, nested ones too. System libraries, stand-ins and other packages do not count.
"""
import functools, json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "Scripts" / "doors.txt"
LINUX, APPLE = ".", "Tests/StandIns"
# The name of a door, the package that describes it, and the modules that the user's code imports.
DOORS = [
    ("iOS, policy in Swift", APPLE, ["PintleURLSession"]),
    ("iOS, policy file", APPLE, ["PintleURLSession", "PintlePolicyFile"]),
    ("Linux service", LINUX, ["PintleURLSession"]),
    ("NIO", LINUX, ["PintleNIO"]),
    ("core", LINUX, ["Pintle"]),
]
# Comments, which can be nested in Swift only with /* */, are skipped before tokens are counted.
LEXEME = re.compile(r'''
    (?P<skipped> //[^\n]* | /\*.*?\*/ | \s+ )
  | \#*"""(?:\\.|.)*?"""\#* | \#+".*?"\#+ | "(?:\\.|[^"\\\n])*"
  | [@\#]?`?\w+(?:\.\d\w*)?`?
  | [()\[\]{},;:.]
  | [^\w\s()\[\]{},;:."`@\#]+
  | .''', re.VERBOSE | re.DOTALL)
TYPE = re.compile(r"^ *(?:@\w+(?:\([^)]*\))? +)*(?:public|open) +(?:(?:final|indirect|nonisolated) +)*"
                  r"(?:struct|class(?! +(?:func|var|let|subscript)\b)|enum|actor|protocol|typealias) +\w", re.MULTILINE)


def targets(package):
    """Returns the Swift targets of this project that a package has, by name."""
    command = ["swift", "package", "--package-path", package, "--scratch-path", ".build/manifest", "describe", "--type", "json"]
    text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    described = {target["name"]: target for target in json.loads(text)["targets"]}
    return {name: target for name, target in described.items()
            if target["module_type"] == "SwiftTarget" and re.match(r"(Repository/)?Sources/", target["path"])}


def closure(targets, imports):
    """Returns the names of the targets that these imports compile, in alphabetical order."""
    found, waiting = set(), list(imports)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += [other for other in targets[name].get("target_dependencies", []) if other in targets]
    return sorted(found)


@functools.cache
def measured(path):
    """Returns the lines, tokens and public types of a file."""
    text = path.read_text()
    tokens = sum(1 for lexeme in LEXEME.finditer(text) if lexeme["skipped"] is None)
    return text.count("\n"), tokens, len(TYPE.findall(text))


def doors():
    """Returns each door as its name, modules, and the numbers of files, lines, tokens and public types."""
    packages = {package: targets(package) for package in (LINUX, APPLE)}
    rows = []
    for name, package, imports in DOORS:
        modules = closure(packages[package], imports)
        files = [(ROOT / package / packages[package][module]["path"] / source).resolve()
                 for module in modules for source in packages[package][module]["sources"]]
        sums = [sum(column) for column in zip(*map(measured, files))]
        rows.append([name, " ".join(modules), len(files), *sums])
    return rows


def rounded(row):
    name, modules, files, lines, tokens, types = row
    return [name, modules, files, round(lines, -2), round(tokens, -3), types]


def written(rows):
    head = ["door", "modules", "files", "lines", "tokens", "public types"]
    cells = [[row[0], str(len(row[1].split())), *(f"{number:,}" for number in row[2:])] for row in map(rounded, rows)]
    widths = [max(map(len, column)) for column in zip(head, *cells)]
    lines = ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
             for row in [head] + cells]
    return "\n".join(lines + [""] + [f"{row[0]}: {row[1]}" for row in rows]) + "\n"


def read(text):
    """Returns the doors of a table, each with its modules and the numbers."""
    numbers, modules = text.split("\n\n")
    names = dict(line.split(": ") for line in modules.splitlines())
    rows = [re.split(r"  +", line) for line in numbers.splitlines()[1:]]
    return {row[0]: [names[row[0]], *(int(cell.replace(",", "")) for cell in row[2:])] for row in rows}


def differences(rows):
    """Returns a line for each door that is not as the table says."""
    known = read(TABLE.read_text()) if TABLE.exists() else {}
    for name, *now in rows:
        before = known.pop(name, None)
        if before is None:
            yield f"{name}: a new door"
            continue
        if before[0] != now[0]:
            yield f"{name}: compiles {now[0]}, not {before[0]}"
        for what, old, new in zip(("files", "lines", "tokens"), before[1:], now[1:]):
            if abs(new - old) > old / 100:
                yield f"{name}: {new:,} {what}, not {old:,}"
        if before[4] != now[4]:
            yield f"{name}: {now[4]} public types, not {before[4]}"
    yield from (f"{name}: the door is gone" for name in known)


def main(mode="print"):
    if not sys.platform.startswith("linux"):
        print("doors: skipped, because Package.swift has the doors of Linux on Linux only")
        return 0
    rows = doors()
    if mode == "check":
        found = list(differences(rows))
        for line in found:
            print(f"Scripts/doors.txt: {line}   <- this change alters a door: `make doors` writes the table")
        return 1 if found else 0
    print(written(rows), end="")
    if mode == "write":
        TABLE.write_text(written(rows))
    return 0


sys.exit(main(*sys.argv[1:]))
