#!/usr/bin/env python3
"""Proves that the code for Apple's systems uses no API newer than the deployment targets, as far as Linux can show it.

The symbol graphs of the standard library and of Foundation have the first iOS version of each declaration. The script looks for
the newer ones among the symbols of the objects that `make apple-build` has compiled, and of the core's tests if `make unit` has.
First it does the same with a program that uses newer API.

What it cannot see: API of Apple's other frameworks, which compiles only if a stand-in has it, and existential types with
arguments, such as `any Collection<Int>`. The five platforms of Package.swift change together, so iOS stands for all.
"""
import collections, json, os, pathlib, re, subprocess, sys, tempfile

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
LIBRARIES = ("Swift", "_Concurrency", "_StringProcessing", "Observation", "Synchronization", "FoundationEssentials", "Foundation")
# The modules of Apple's side, not its servers and tests.
MODULES = ("Pintle", "PintleApple", "PintleCrypto", "PintleReports", "PintleStorage", "PintleURLSession", "PintleUpdates",
           "TestKitOnApple", "ClientModel", "AppViews", "ApplePlatforms", "ChangingPolicy", "FirstRequest", "Migrating",
           "PinnedSession", "AppTests")
ALLOWED = {
    # The branch of Linux. On Apple's systems the lock is Foundation's.
    ("Pintle", "Locked", "Atomic"), ("Pintle", "Locked", "Mutex"),
    # `for await` calls next() where the system lacks this.
    ("PintleUpdates", "OpenRequests", "AsyncStream.Iterator.next(isolation:)"),
}
CONTROL = """
import FoundationEssentials
import Synchronization
func span(_ bytes: [UInt8]) -> UInt8 { bytes.span[0] }
func file(_ path: String) -> URL { URL(filePath: path) }
func wait() async throws { try await Task.sleep(for: .seconds(1)) }
func contains(_ text: String) -> Bool { text.contains("text") }
func matches(_ text: String) throws -> Bool { try Regex(text).firstMatch(in: text) != nil }
func group() async { await withDiscardingTaskGroup { _ in } }
func inline() -> [3 of Int] { [1, 2, 3] }
let lock = Mutex(0)
func older(_ text: String) -> Bool { text.contains(where: \\.isNewline) }
"""
FOUND_IN_CONTROL = {
    "Array.span", "URL.init(filePath:directoryHint:relativeTo:)", "Task.sleep(for:tolerance:clock:)", "StringProtocol.contains(_:)",
    "Regex", "Regex.firstMatch(in:)", "withDiscardingTaskGroup(returning:isolation:body:)", "InlineArray", "Mutex"}


def output(*words, **options):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


# What differs between the name of a declaration in a symbol graph and the names of its symbols: an accessor, the module of an
# extension, and the parts of the standard library that have a name of their own.
DIFFERENCES = re.compile(r"\.(?:getter|setter|modify2?|read2?|unsafeAddressor|unsafeMutableAddressor)(?= : )|\(extension in \w+\):")


def demangled(symbols):
    """Returns {symbol: its demangled name}, equal for a declaration and its uses."""
    names = output("swift", "demangle", "--compact", input="\n".join(symbols)).splitlines()
    names = [re.sub(r"\b_(Concurrency|StringProcessing)\.", "Swift.", DIFFERENCES.sub("", name)) for name in names]
    return dict(zip(symbols, names))


def newer_than(version):
    """Returns the newer declarations by their demangled names, and the newer types by their qualified names."""
    target = json.loads(output("swift", "-print-target-info"))["target"]["unversionedTriple"]
    members, types = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            output("swift", "symbolgraph-extract", "-module-name", library, "-target", target, "-minimum-access-level", "public",
                   "-output-dir", folder, stderr=subprocess.DEVNULL)
        for file in pathlib.Path(folder).glob("*.json"):
            graph = json.loads(file.read_text())
            for symbol in graph["symbols"]:
                since = [mark["introduced"]["major"] for mark in symbol.get("availability", [])
                         if mark.get("domain") == "iOS" and "introduced" in mark]
                if max(since, default=0) <= version:
                    continue
                path = ".".join(symbol["pathComponents"])
                use = (path, max(since))
                if symbol["kind"]["identifier"] in ("swift.struct", "swift.enum", "swift.class", "swift.protocol"):
                    module = file.name.split("@")[0].split(".")[0]
                    types[("Swift." if module.startswith("_") else module + ".") + path] = use
                else:
                    members["$s" + symbol["identifier"]["precise"].split("::")[0][2:]] = use
    names = demangled(list(members))
    return {names[symbol]: use for symbol, use in members.items()}, types


def uses(objects, members, types):
    """Yields each object with a newer declaration that it uses."""
    nm = pathlib.Path(output("which", "swift").strip()).resolve().parent / "llvm-nm"
    symbols = collections.defaultdict(set)
    for line in output(nm, "--format=posix", "--print-file-name", *objects, stderr=subprocess.DEVNULL).splitlines():
        place, _, rest = line.partition(": ")
        if rest.startswith("$s"):
            symbols[rest.split(" ")[0]].add(place)
    names = demangled(list(symbols))
    word = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
    for symbol, places in symbols.items():
        name = names[symbol]
        found = {members[name]} if name in members else set()
        found |= {types[text] for text in word.findall(name) if text in types}
        yield from ((place, use) for place in places for use in found)


def main():
    platforms = json.loads(output("swift", "package", "--scratch-path", ".build/manifest", "dump-package"))["platforms"]
    version = int(next(float(platform["version"]) for platform in platforms if platform["platformName"] == "ios"))
    members, types = newer_than(version)
    with tempfile.TemporaryDirectory() as folder:
        source, control = pathlib.Path(folder, "control.swift"), pathlib.Path(folder, "control.o")
        source.write_text(CONTROL)
        output("swiftc", "-parse-as-library", "-module-name", "Control", "-c", source, "-o", control)
        found = {use[0] for _, use in uses([control], members, types)}
        if missing := FOUND_IN_CONTROL - found:
            sys.exit(f"newer-api: error: not found in the control: {', '.join(sorted(missing))}")
        if "Collection.contains(where:)" in found:
            sys.exit("newer-api: error: finds an old declaration in the control")
    folders = [pathlib.Path(f".build/apple/debug/{module}.build") for module in MODULES]
    if missing := [folder.name for folder in folders if not any(folder.rglob("*.o"))]:
        sys.exit(f"newer-api: error: not compiled: {', '.join(missing)}; run: make apple-build")
    objects = [file for folder in [*folders, pathlib.Path(".build/debug/PintleTests.build")] for file in folder.rglob("*.o")]
    file = re.compile(r"(\w+)\.build/(?:.*/)?([^/]+)\.swift\.o$")
    found = {(*file.search(place).groups(), *use) for place, use in uses(objects, members, types)}
    wrong = sorted(use for use in found if use[:3] not in ALLOWED)
    for module, file, declaration, since in wrong:
        print(f"newer-api: {module}, {file}.swift: {declaration} needs iOS {since}: replace it, or list it in ALLOWED if only "
              "newer or other systems run it", file=sys.stderr)
    if unused := ALLOWED - {use[:3] for use in found}:
        sys.exit(f"newer-api: ALLOWED has what is not used: {unused}")
    if wrong:
        sys.exit(1)
    print(f"newer-api: {len(objects)} objects use none of {len(members) + len(types)} declarations that are newer than iOS {version}")


main()
