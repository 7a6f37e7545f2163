#!/usr/bin/env python3
"""Proves that Apple's side fits the interface of Apple's systems, as far as Linux can show it.

Tests/StandIns/AppleFacts.tsv has the facts: declarations of Apple's modules, with their types and the first system that has them.
AppleExceptions.tsv has what differs, with reasons. Each row must be needed. The script checks:

- Each declaration of a stand-in has a row with the same type. Each declaration of Foundation that Apple's side uses has a row.
- Newer declarations stand behind `#available`, on each of the five systems. This includes those of Swift and Foundation.
- Optional methods of delegates are called with `?`, and arguments are cast to types of Core Foundation.
- Each method of a delegate protocol is forwarded by one of the two delegates that stand before an app's own.

First it checks Tests/StandIns/PlantedFaults.swift, and must find each fault there and nothing else. Needs `make apple-build`.

The compiler does most of this. It compiles the sources for Apple's systems, against copies of the stand-ins that the script
changes as the facts say: once with the types that the tests use, and once with Objective-C's. Linux has no modules of the standard
library for Apple's systems. But its own modules have the availability for these, and the compiler checks it if the target is one of
these systems. So the script copies the modules, and writes another target into the copies. They are good for checking types only.
"""
import collections, concurrent.futures, ctypes, json, os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.chdir(ROOT)
STAND_INS, WORK = pathlib.Path("Tests/StandIns"), pathlib.Path(".build/apple-facts")
# A system's name in targets, and in the names of a toolchain's folders and files.
System = collections.namedtuple("System", "name target folder file")
SYSTEMS = [System("iOS", "ios", "iphoneos", "ios"), System("macOS", "macosx", "macosx", "macos"),
           System("tvOS", "tvos", "appletvos", "tvos"), System("watchOS", "watchos", "watchos", "watchos"),
           System("visionOS", "xros", "xros", "xros")]
# Modules in the place of Apple's, those of Pintle for Apple's systems, and its examples and tests for iOS, each after its imports.
# Alamofire is not Apple's, and Darwin has a make target of its own.
FACTUAL = ["Security", "URLLoading", "WebKit", "Network", "os", "CryptoKit", "Combine", "SwiftUI"]
INTERFACE = ["Combine", "SwiftUI"]
C_LIBRARY = ["DarwinTypes", "Darwin"]
CORE = ["PintleCrypto", "Pintle", "PintleSystem", "PintleStorage", "PintleUpdates", "PintleReports"]
SWIFT_NIO = ["NIOCore", "NIOPosix", "NIOTLS", "NIOSSL"]
ADAPTERS = ["PintleApple", "PintleURLSession", *SWIFT_NIO, "PintleNIO"]
EXAMPLES = ["ClientModel", "AppViews", "ApplePlatforms", "ChangingPolicy", "FirstRequest", "Migrating", "PinnedSession"]
TESTS = ["TestKitOnApple", "AppTests", "PintleTests"]
# Core Foundation's types as the classes that Swift casts to. The stand-ins have the values that are cast.
CLASSES = {"CFTypeRef": "AnyObject", "CFArray": "NSArray", "CFData": "NSData", "CFDate": "NSDate", "CFDictionary": "NSDictionary",
           "CFError": "NSError", "CFString": "NSString"}
# What the compiler says only because the toolchain is Linux's: no class of its Foundation is one of Objective-C, and the standard
# library lacks a pointer type of Objective-C.
EXPECTED = re.compile("cannot be represented in Objective-C|broken standard library: cannot find intrinsic operations")
problems = []


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, **options)


def output(*words):
    return run(*words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def version(text):
    return [int(part) for part in text.split(".")]


# MARK: Tables

def rows(file):
    lines = (STAND_INS / file).read_text().splitlines()
    head = lines[0].split("\t")
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(head):
            sys.exit(f"apple-facts: error: {file}:{number}: {len(cells)} cells, and {len(head)} in the first row")
        yield dict(zip(head, cells))


class Fact:
    """A declaration of Apple's."""

    def __init__(self, name, row):
        self.name, self.type, self.selector, self.isOptional = name, row["type"], row["selector"], row["member"] == "optional"
        self.since = {system.name: row[system.name] for system in SYSTEMS}

    def availability(self, deployed):
        """Returns the attributes that say so, if a system that Pintle supports lacks the declaration."""
        known = {system: since for system, since in self.since.items() if since not in "-?"}
        isNewer = any(version(since) > version(deployed[system]) for system, since in known.items())
        introduced = ", ".join(f"{system} {since}" for system, since in known.items())
        return (f"@available({introduced}, *) " if isNewer else "") + "".join(
            f"@available({system}, unavailable) " for system, since in self.since.items() if since == "-")


def read_facts():
    """Returns {name: facts}; several for functions that differ only in their types. `Type.{a, b}` stands for two names."""
    facts = collections.defaultdict(list)
    for row in rows("AppleFacts.tsv"):
        symbol = row["symbol"]
        group = re.fullmatch(r"(.*?)\{(.+)\}", symbol)
        for name in [group[1] + part for part in group[2].split(", ")] if group else [symbol]:
            facts[name].append(Fact(name, row))
        wrong = [system.name for system in SYSTEMS if not re.fullmatch(r"-|\?|\d+(\.\d+)*", row[system.name])]
        if wrong or not re.fullmatch(r"20\d\d-\d\d-\d\d", row["read"]):
            problems.append(f"AppleFacts.tsv: {symbol}: write versions, - (not there) or ? (not found), and the date of reading")
        if row["member"] not in ("", "optional", "required") or bool(row["member"]) != bool(row["selector"]):
            problems.append(f"AppleFacts.tsv: {symbol}: a method of a delegate is optional or required, and has a selector")
    return facts


class Exceptions:
    def __init__(self):
        self.rows = [(row["rule"], row["symbol"], row["reason"]) for row in rows("AppleExceptions.tsv")]
        self.needed = set()

    def has(self, rule, name):
        for row in self.rows:
            if row[0] == rule and re.fullmatch(re.escape(row[1]).replace(r"\*", ".*"), name):
                self.needed.add(row)
                return True
        return False

    def apple_name(self, name):
        """Returns Apple's name for a declaration that has another one here."""
        for row in self.rows:
            if row[0] == "stands for" and f"{name}.".startswith(f"{row[1]}."):
                self.needed.add(row)
                return row[2] + name[len(row[1]):]
        return name


# MARK: Stand-ins

def split(text):
    """Returns the parts between the commas that are outside of brackets."""
    parts, depth = [""], 0
    for before, character in zip(" " + text, text):
        depth += (character in "([<{") - (character in ")]}" or character == ">" and before != "-")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def plain(text):
    """Returns a type without attributes, names of parameters and defaults."""
    text = re.sub(r"@\w+ |\b(any|inout) ", "", text.split(" = ")[0]).strip()
    if function := re.fullmatch(r"\((.*)\) -> (.+)", text):
        parameters = [plain(re.sub(r"^(_ )?\w+: ", "", part)) for part in split(function[1])]
        return f"({', '.join(parameters)}) -> {plain(function[2])}"
    text = re.sub(r"^\((\w[\w.]*)\)(?=[?!]$)", r"\1", text)
    return "()" if text == "Void" else text


def type_of(declaration):
    """Returns the type of a declaration: `(Int) -> Bool` for functions, that of the value for properties, otherwise the kind."""
    text = re.sub(r"^(@\w+ |(open|public|static|class|final|override|mutating|weak|convenience|required|optional) "
                  r"(?=.*\b(func|init|var|let|class|subscript)\b))*", "", " ".join(declaration.split()))
    kind = text.split(" ")[0]
    if kind in ("var", "let"):
        return plain(text.partition(": ")[2].partition(" {")[0])
    if not (function := re.match(r"(func |init)[^(<]*(<[^(]*>)?\(", text)):
        return kind
    depth, end = 1, function.end()
    while depth:
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    parameters = [plain(part.partition(": ")[2]) for part in split(text[function.end():end - 1])]
    effects, _, result = text[end:].partition("-> ")
    words = [f"({', '.join(parameters)})", *re.findall("async|throws", effects)]
    return " ".join(words + ([f"-> {plain(result.partition(' where ')[0])}"] if result and kind.startswith("func") else []))


Declaration = collections.namedtuple("Declaration", "name kind type file line usr isDefault")


def module_maps():
    return [word for map in sorted(ROOT.glob("Sources/C*/module.modulemap")) for word in ("-Xcc", f"-fmodule-map-file={map}")]


def read_stand_ins(toolchain):
    """Returns the public declarations of the stand-ins, with their places."""
    folder, found = fresh(WORK / "symbols"), []
    for module in FACTUAL:
        output("swift", "symbolgraph-extract", "-module-name", module, "-target", toolchain.triple, "-I", ".build/apple/debug/Modules",
               *module_maps(), "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder)
    for file in sorted(folder.glob("*.json")):
        graph = json.loads(file.read_text())
        defaults = {relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"}
        for symbol in graph["symbols"]:
            name = ".".join(symbol["pathComponents"])
            if "location" in symbol and not name.endswith(".init(rawValue:)"):
                place, usr = symbol["location"], symbol["identifier"]["precise"]
                text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                found.append(Declaration(
                    name, symbol["kind"]["identifier"].partition(".")[2], type_of(text),
                    pathlib.Path(place["uri"].removeprefix("file://")).relative_to(ROOT), place["position"]["line"], usr, usr in defaults))
    return found


def pair(declarations, facts, exceptions):
    """Returns (declaration, its fact) for each, and reports declarations without a fact or with another type."""
    pairs = []
    for declaration in declarations:
        candidates = facts.get(exceptions.apple_name(declaration.name), [])
        fact = next((fact for fact in candidates if fact.type == declaration.type), candidates[0] if candidates else None)
        pairs.append((declaration, fact))
        place = f"{declaration.file}:{declaration.line + 1}: {declaration.name}"
        if not fact and not exceptions.has("own", declaration.name):
            problems.append(f"{place}: AppleFacts.tsv has no row for it")
        if fact and fact.type and fact.type != declaration.type and not exceptions.has("type", declaration.name):
            problems.append(f"{place}: its type is {declaration.type}, and Apple's is {fact.type}")
    return pairs


def copy_stand_ins(pairs, deployed, has_objective_c):
    """Copies the stand-ins, and changes the copies as the facts say. Each declaration keeps its line."""
    folder = fresh(WORK / ("objective-c" if has_objective_c else "swift"))
    delegates = {fact.name.partition(".")[0] for _, fact in pairs if fact and fact.selector}
    prefixes = collections.defaultdict(dict)
    for declaration, fact in pairs:
        words = fact.availability(deployed) if fact else ""
        if has_objective_c and fact and not declaration.isDefault:
            if fact.selector:
                words += f"@objc({fact.selector}) {'optional ' * fact.isOptional}"
            elif fact.name in delegates:
                words += "@objc "
        line = prefixes[declaration.file].setdefault(declaration.line, words)
        if line != words:
            problems.append(f"{declaration.file}:{declaration.line + 1}: give each declaration a line, because not all are equally new")
    for module in FACTUAL:
        for file in sorted((STAND_INS / module).rglob("*.swift")):
            lines = file.read_text().splitlines()
            for line, words in prefixes[file].items():
                lines[line] = re.sub(r"^ *", lambda indentation: indentation[0] + words, lines[line])
            # Names of another module in a signature need a public import, as they do in Apple's headers.
            text = "\n".join(re.sub("^internal import", "public import", line) for line in lines)
            if has_objective_c:
                names = "|".join(delegates)
                # A method that is absent has no default.
                text = re.sub(rf"^extension ({names}) \{{\n.*?^\}}$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
                text = re.sub(rf"(?<=protocol )({names}): NSObjectProtocol", r"\1: AnyObject", text)
                text = re.sub(rf"(?<=typealias )({'|'.join(CLASSES)}) = .*", lambda name: f"{name[1]} = {CLASSES[name[1]]}", text)
            copy = folder / file.relative_to(STAND_INS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text + "\n")
    return folder


# MARK: Compiling

class Toolchain:
    def __init__(self):
        info = json.loads(output("swiftc", "-print-target-info"))
        self.triple, self.version = info["target"]["moduleTriple"], info["compilerVersion"]
        self.resources = pathlib.Path(info["paths"]["runtimeResourcePath"])
        listing = run("clang", "-xc", "-E", "-v", os.devnull, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL).stderr
        folders = re.findall(r"^ (/\S+)$", listing.partition("search starts here:")[2], flags=re.M)
        self.headers = [folder for folder in folders if "/clang/" not in folder]
        # The compiler for Linux finds this module without a file.
        self.c_library = ROOT / fresh(WORK / "c") / "module.modulemap"
        header = next((self.resources / "linux").rglob("SwiftGlibc.h"))
        self.c_library.write_text(f'module SwiftGlibc [system] {{ header "{header}" export * }}\n')

    def resources_for(self, system, target):
        """Copies the modules of the toolchain, and writes `target` into the copies."""
        folder = ROOT / WORK / "toolchain" / system.name
        mark, wanted = folder / "made-for", f"{self.version} {target}"
        if mark.exists() and mark.read_text() == wanted:
            return folder
        fresh(folder)
        (folder / system.folder).mkdir()
        for part in self.resources.iterdir():
            if part.name != system.folder:
                (folder / part.name).symlink_to(part)
        # The target has a fixed place in a module. Zeros that fill it do not change the version.
        own = self.triple.encode()
        other = target.encode().ljust(len(own), b"0")
        for module in (self.resources / "linux").glob("*.swiftmodule"):
            copies = folder / system.folder / module.name
            copies.mkdir()
            binary, interface = module / f"{self.triple}.swiftmodule", module / f"{self.triple}.swiftinterface"
            if binary.exists():
                (copies / f"arm64-apple-{system.file}.swiftmodule").write_bytes(binary.read_bytes().replace(own, other, 1))
            elif interface.exists():
                text = interface.read_text().replace(self.triple, target, 1)
                (copies / f"arm64-apple-{system.file}.swiftinterface").write_text(text)
        # Where a declaration says nothing of visionOS, its version of iOS counts.
        alike = {"17.0": "1.0", "18.0": "2.0", "26.0": "26.0"}
        (folder / "SDKSettings.json").write_text(json.dumps({
            "CanonicalName": "xros26.0", "Version": "26.0", "MaximumDeploymentTarget": "26.0.99", "VersionMap": {
                "iOS_visionOS": alike, "visionOS_iOS": {vision: ios for ios, vision in alike.items()}}}))
        mark.write_text(wanted)
        return folder


def read_packages():
    """Returns {module: (its target in a manifest, the folder of the package)}, and {system: the oldest version that Pintle supports}."""
    targets, deployed = {}, {}
    for folder in (pathlib.Path("."), pathlib.Path("Tests/Darwin"), STAND_INS):
        package = json.loads(output("swift", "package", "--package-path", folder, "--scratch-path", WORK / "manifest", "dump-package"))
        targets |= {target["name"]: (target, folder) for target in package["targets"]}
        for platform in package["platforms"]:
            system = next(system for system in SYSTEMS if system.name.lower() == platform["platformName"].lower())
            deployed.setdefault(system.name, platform["version"])
    return targets, deployed


class Compiler:
    """Compiles modules for one of Apple's systems, and collects what the compiler refuses."""

    def __init__(self, system, stand_ins, toolchain, packages):
        self.packages, deployed = packages
        self.system, self.stand_ins, self.name, self.refusals = system, stand_ins, f"{system.name}-{stand_ins.name}", []
        self.modules = fresh(WORK / "modules" / self.name)
        self.index = self.modules / "index"
        target = f"arm64-apple-{system.target}{deployed[system.name]}"
        resources = toolchain.resources_for(system, target)
        self.options = [
            "-target", target, "-clang-target", toolchain.triple, "-sdk", resources, "-resource-dir", resources, "-I", self.modules,
            "-I", toolchain.resources, "-module-cache-path", WORK / "cache", "-plugin-path", toolchain.resources / "host/plugins",
            "-package-name", "pintle", "-D", "DEBUG", "-enable-testing", "-suppress-warnings", "-diagnostic-style", "llvm",
            "-disable-objc-attr-requires-foundation-module", "-experimental-allow-module-with-compiler-errors",
            f"-{'enable' if stand_ins.name == 'objective-c' else 'disable'}-objc-interop", *module_maps(),
            "-Xcc", f"-fmodule-map-file={toolchain.c_library}",
            *[word for folder in toolchain.headers for word in ("-Xcc", "-idirafter", "-Xcc", folder)]]

    def compile(self, module, files, *words):
        units = [word for file in files for word in ("-index-unit-output-path", f"{module}/{file}")]
        result = run("swiftc", "-frontend", "-emit-module", "-emit-module-path", self.modules / f"{module}.swiftmodule", "-module-name",
                     module, *self.options, *words, *units, *files, stderr=subprocess.PIPE)
        refusals = [line for line in result.stderr.splitlines() if ": error: " in line and not EXPECTED.search(line)]
        if not refusals and not (self.modules / f"{module}.swiftmodule").exists():
            refusals = [f"{module}: error: the compiler stopped: {result.stderr[-1000:]}"]
        self.refusals += refusals

    def build(self, module, checks_bodies=True):
        target, package = self.packages[module]
        folder = package / target.get("path", f"Tests/{module}")
        # On Apple's systems the folder is not a part of the module. Here it is, for the servers of the tests.
        excluded = [folder / name for name in target["exclude"] + ["Linux"] * (module == "PintleSystem")]
        files = [file for file in sorted(folder.rglob("*.swift")) if not any(other in (file, *file.parents) for other in excluded)]
        if module in FACTUAL:
            files = [self.stand_ins / file.relative_to(STAND_INS) for file in files]
        words = self.settings(module) + ([] if target["type"] == "executable" and len(files) == 1 else ["-parse-as-library"])
        if module in FACTUAL + C_LIBRARY + SWIFT_NIO:
            words += ["-swift-version", "5", "-disable-availability-checking", "-experimental-skip-all-function-bodies"]
        else:
            words += ["-swift-version", "6", "-index-store-path", self.index]
            words += [] if checks_bodies else ["-experimental-skip-all-function-bodies"]
        self.compile(module, files, *words)

    def settings(self, module):
        """Returns the settings of a module in its manifest."""
        words = []
        for setting in self.packages[module][0]["settings"]:
            (kind, value), = setting["kind"].items()
            words += {"enableUpcomingFeature": ["-enable-upcoming-feature", value.get("_0")], "define": ["-D", value.get("_0")],
                      "defaultIsolation": ["-default-isolation", value.get("_0")]}.get(kind, [])
            words += [word for word in value["_0"] if word != "-Xfrontend"] if kind == "unsafeFlags" else []
        return words


# MARK: Uses

# A name in a source: the declaration that it stands for, and the requirements that a declaration at this place fulfils.
Use = collections.namedtuple("Use", "module usr name is_definition is_implicit fulfils")


class Text(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("count", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.start, self.count).decode()


def read_uses(index, toolchain):
    """Returns what the compiler has found in the sources."""
    library = ctypes.CDLL(str(next(toolchain.resources.parent.glob("libIndexStore.so*"))))
    definition, implicit, fulfils, record = 1 << 1, 1 << 8, 1 << 11, 2

    def call(name, *arguments, result=ctypes.c_void_p):
        function = library[f"indexstore_{name}"]
        function.restype = result
        return function(*[ctypes.c_void_p(argument) if isinstance(argument, int) else argument for argument in arguments])

    def text(name, argument):
        return str(call(name, argument, result=Text))

    def each(name, argument, body, kind=ctypes.c_void_p, *options):
        def visit(_, item):
            body(item)
            return True
        call(f"{name}_apply_f", argument, *options, None, ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, kind)(visit))

    def read(module, name):
        def add(place):
            symbol, met = call("occurrence_get_symbol", place), []

            def relate(relation):
                if call("symbol_relation_get_roles", relation, result=ctypes.c_uint64) & fulfils:
                    met.append(text("symbol_get_usr", call("symbol_relation_get_symbol", relation)))
            each("occurrence_relations", place, relate)
            roles = call("occurrence_get_roles", place, result=ctypes.c_uint64)
            found.append(Use(module, text("symbol_get_usr", symbol), text("symbol_get_name", symbol), bool(roles & definition),
                             bool(roles & implicit), met))
        reader = call("record_reader_create", store, name.encode(), None)
        each("record_reader_occurrences", reader, add)

    store, units, found = call("store_create", os.fsencode(index), None), [], []
    each("store_units", store, lambda name: units.append(str(name)), Text, ctypes.c_uint(0))
    for unit in units:
        reader, records = call("unit_reader_create", store, unit.encode(), None), []

        def note(part):
            if call("unit_dependency_get_kind", part, result=ctypes.c_int) == record:
                records.append(text("unit_dependency_get_name", part))
        each("unit_reader_dependencies", reader, note)
        for name in records:
            read(text("unit_reader_get_module_name", reader), name)
    return found


def names_of(uses):
    """Returns {usr: (the qualified name, the module that has the declaration)}."""
    last = {use.usr: use.name for use in uses}
    symbols = "\n".join("$" + usr.replace(":", "", 1) for usr in last)
    lines = run("swift", "demangle", "--compact", input=symbols, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    names = {}
    for (usr, name), line in zip(last.items(), lines):
        line = line.replace("->", "")
        while "<" in line and (shorter := re.sub("<[^<>]*>", "", line)) != line:
            line = shorter
        # Does not match for a parameter or a variable in a function.
        if found := re.match(r"(?:static )?(?:\(extension in (\w+)\):)?(?:static )?(\w+)\.((?:\w+\.)*)", line):
            names[usr] = (found[3] + name, found[1] or found[2])
    return names


def check_uses(uses, facts, exceptions):
    """Reports declarations of Foundation without a row. Those of FoundationEssentials and Swift have their availability in the toolchain."""
    used = [use for use in uses if re.match("s:(10Foundation|20FoundationNetworking)", use.usr) and use.module not in TESTS
            and not use.is_implicit and not re.match("(getter|setter):|init.rawValue:.$", use.name)]
    users = collections.defaultdict(set)
    for use in used:
        users[use.usr].add(use.module)
    for usr, (name, module) in names_of(used).items():
        isFoundations = module in ("Foundation", "FoundationNetworking")
        if isFoundations and not facts.get(exceptions.apple_name(name)) and not exceptions.has("own", name):
            problems.append(f"AppleFacts.tsv has no row for {name} of Foundation, which {', '.join(sorted(users[usr]))} uses")


def forwarded(module, uses, pairs):
    """Returns the selectors of delegate methods that a module has, and names where it may call the same method of another delegate."""
    selectors = {declaration.usr: fact.selector for declaration, fact in pairs if fact and fact.selector and not declaration.isDefault}
    own = [use for use in uses if use.module == module]
    defaults = {declaration.usr for declaration, _ in pairs if declaration.isDefault}
    fulfilled = {usr for use in own if use.usr not in defaults for usr in use.fulfils}
    return {selectors[use.usr] for use in own if not use.is_definition and not use.is_implicit and use.usr in fulfilled & set(selectors)}


def check_forwarding(uses, pairs, facts, exceptions):
    """Reports delegate methods that are not forwarded, and selectors in the sources that no such method has."""
    methods = {fact.selector: fact for same in facts.values() for fact in same if fact.selector}
    text = "\n".join(file.read_text() for file in sorted(pathlib.Path("Sources/PintleApple").rglob("*.swift")))
    # A long one may be in two parts.
    written = set(re.findall(r'"((?:URLSession|webView|download)\w*:[\w:]*)"', re.sub(r'"\s*\+\s*"', "", text)))
    # Methods of a module that PintleApple does not import are forwarded by the Objective-C runtime, by their selectors.
    for selector in sorted(set(methods) - forwarded("PintleApple", uses, pairs) - written):
        if not exceptions.has("not forwarded", selector):
            problems.append(f"{methods[selector].name} is not forwarded: forward it, or say in AppleExceptions.tsv why not: {selector}")
    problems.extend(f"Sources/PintleApple: AppleFacts.tsv has no method {selector}" for selector in sorted(written - set(methods)))


# MARK: Planted faults

PLANTED = STAND_INS / "PlantedFaults.swift"


def check_planted(compilers, pairs, toolchain):
    """Reports each planted fault that is not found, and each line without a fault where one is found."""
    lines = PLANTED.read_text().splitlines()
    for system in SYSTEMS:
        found = collections.defaultdict(str)
        for compiler in [compiler for compiler in compilers if compiler.system == system]:
            compiler.refusals = []
            compiler.compile("Planted", [PLANTED], "-swift-version", "6", "-parse-as-library", "-index-store-path", compiler.index,
                             *compiler.settings("PintleApple"))
            for refusal in compiler.refusals:
                place = re.match(rf"{PLANTED}:(\d+):", refusal)
                found[int(place[1]) if place else 0] += refusal
        for number in range(len(lines) + 1):
            fault = re.search(r"// (newer|refused)(?: on ([\w, ]+))?: (.*)", lines[number - 1]) if number else None
            # The types of Objective-C are the same on each system, so they are compiled for one.
            isThere = fault and system.name in (fault[2] or system.name) and (fault[1] == "newer" or system.name == "iOS")
            if isThere and fault[3] not in found[number]:
                problems.append(f"{PLANTED}:{number}: on {system.name} the compiler does not find the fault: {fault[3]}")
            if not isThere and number in found and found[number]:
                problems.append(f"on {system.name} a fault is found where none is planted: {found[number]}")
    uses = read_uses(next(compiler.index for compiler in compilers if compiler.name == "iOS-swift"), toolchain)
    wanted = set(re.findall(r"// forwarded: (\S+)", "\n".join(lines)))
    if forwarded("Planted", uses, pairs) != wanted:
        problems.append(f"{PLANTED}: forwarded are {forwarded('Planted', uses, pairs)}, and should be {wanted}")


def finish():
    """Ends the script if there are problems."""
    for problem in problems:
        print(f"apple-facts: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)


def main():
    toolchain, packages, facts, exceptions = Toolchain(), read_packages(), read_facts(), Exceptions()
    deployed = packages[1]
    pairs = pair(read_stand_ins(toolchain), facts, exceptions)
    swift, objective_c = copy_stand_ins(pairs, deployed, False), copy_stand_ins(pairs, deployed, True)
    compilers = [Compiler(SYSTEMS[0], swift, toolchain, packages), Compiler(SYSTEMS[0], objective_c, toolchain, packages)]
    compilers += [Compiler(system, swift, toolchain, packages) for system in SYSTEMS[1:]]

    def build(compiler):
        isFull = compiler is compilers[0]
        name = compiler.system.name
        absent = {module for module in FACTUAL if all(
            fact.since[name] == "-" for declaration, fact in pairs if fact and module in declaration.file.parts)}
        for module in C_LIBRARY + FACTUAL + CORE + ADAPTERS + (EXAMPLES + TESTS) * (name == "iOS"):
            # The tests of the core take as long as all the rest, and have no types of Objective-C.
            if module not in absent and (isFull or module != "PintleTests") and (name == "iOS" or module not in INTERFACE):
                compiler.build(module, isFull or module not in CORE)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build, compilers))
    problems.extend(sorted({refusal for compiler in compilers for refusal in compiler.refusals}))
    if any(compiler.refusals for compiler in compilers):
        finish()
    uses = read_uses(compilers[0].index, toolchain)
    check_uses(uses, facts, exceptions)
    check_forwarding(uses, pairs, facts, exceptions)
    check_planted(compilers, pairs, toolchain)
    problems.extend(f"AppleExceptions.tsv has a row that nothing needs: {', '.join(row)}"
                    for row in exceptions.rows if row not in exceptions.needed)
    finish()
    unknown = sorted(name for name, same in facts.items() for fact in same if "?" in fact.since.values())
    print(f"apple-facts: {len(facts)} declarations of Apple's; not all systems of these are known: {', '.join(unknown)}")


main()
