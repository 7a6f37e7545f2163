#!/usr/bin/env python3
"""Proves that Apple's side fits the interface of Apple's systems, as far as Linux can show it.

Tests/StandIns/AppleFacts.tsv has the facts: declarations of Apple's modules, with their types and the first system that has them.
AppleExceptions.tsv has what differs, with reasons. Each row must be needed. The script checks:

- Each declaration of a stand-in has a row with the same type. Each declaration of Foundation that Apple's side uses has a row.
- Newer declarations stand behind `#available`, on each of the five systems. This includes those of Swift and Foundation.
- Optional methods of delegates are called with `?`, and arguments are cast to types of Core Foundation.
- Each method of a delegate protocol is forwarded by one of the two delegates that stand before an app's own.
- Each fault in Tests/StandIns/PlantedFaults.swift is found, and nothing else there.

The compiler does most of this. It compiles the sources for Apple's systems, against copies of the stand-ins that the script
changes as the facts say: once with the types that the tests use, and once with those of Objective-C. Linux has no modules of
Swift for Apple's systems. But its own modules have the availability for these systems, and the compiler checks it if the target
is one of them. So the script copies the modules, and writes another target into the copies. They only serve to check types.

Needs the modules of `make apple-build`. Only a device shows what a declaration does.
"""
import collections, concurrent.futures, ctypes, json, os, pathlib, re, shutil, subprocess, sys, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.chdir(ROOT)
STAND_INS, WORK = pathlib.Path("Tests/StandIns"), pathlib.Path(".build/apple-facts")
# A system's name in targets, and in the names of a toolchain's folders and files.
System = collections.namedtuple("System", "name target folder file")
SYSTEMS = [System("iOS", "ios", "iphoneos", "ios"), System("macOS", "macosx", "macosx", "macos"),
           System("tvOS", "tvos", "appletvos", "tvos"), System("watchOS", "watchos", "watchos", "watchos"),
           System("visionOS", "xros", "xros", "xros")]
# Modules, each after those that it imports. The first are those in the place of Apple's that have facts; `make darwin` compares
# Darwin with the C library. Examples and tests are only compiled for iOS.
USER_INTERFACE = ["Combine", "SwiftUI"]
FACTUAL = ["Security", "URLLoading", "WebKit", "Network", "os", "CryptoKit", *USER_INTERFACE]
OTHERS = ["DarwinTypes", "Darwin", "NIOCore", "NIOPosix", "NIOTLS", "NIOSSL"]
CORE = ["PintleCrypto", "Pintle", "PintlePolicyFile", "PintleSystem", "PintleEvents", "PintleStorage", "PintleResources", "PintleUpdates",
        "PintleReports"]
# The tool, which only macOS has.
TOOL = ["PintleText", "PintlePolicyLint", "PintleProcess", "PintleConsole", "PintlePolicyTools"]
ADAPTERS = ["PintleApple", "PintleURLSession", "PintleRemote", "PintleNIO"]
EXAMPLES = ["ClientModel", "Client", "AppViews"]
TESTS = ["TestKitOnApple", "AppTests", "SpecificationVectors", "PintleTests"]
# Core Foundation's types as the classes that Swift casts to. The stand-ins have the values that are cast.
CLASSES = {"CFTypeRef": "AnyObject", "CFArray": "NSArray", "CFData": "NSData", "CFDate": "NSDate", "CFDictionary": "NSDictionary",
           "CFError": "NSError", "CFString": "NSString"}
# What the compiler says only because the toolchain is Linux's: no class of its Foundation is one of Objective-C, NSObject has no
# methods for selectors, and the standard library lacks a pointer type of Objective-C.
EXPECTED = re.compile("cannot be represented in Objective-C|broken standard library: cannot find intrinsic operations|"
                      "is declared in extension of 'NSObject' and cannot be overridden")
# What every delegate has. Linux's Foundation declares it without Objective-C.
ROOT_PROTOCOL = """
@objc public protocol NSObjectProtocol {%s}
extension NSObject: NSObjectProtocol {%s}
"""
SELECTORS = ("func responds(to aSelector: Selector!) -> Bool", """
    @objc dynamic open func responds(to aSelector: Selector!) -> Bool { false }
    @objc dynamic open func forwardingTarget(for aSelector: Selector!) -> Any? { nil }
""")
PLANTED = STAND_INS / "PlantedFaults.swift"
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
        self.name, self.type, self.selector, self.is_optional = name, row["type"], row["selector"], row["member"] == "optional"
        self.since = {system.name: row[system.name] for system in SYSTEMS}

    def availability(self, deployed):
        """Returns the attributes that say so, if a system that Pintle supports lacks the declaration."""
        introduced = ", ".join(f"{system} {since}" for system, since in self.since.items() if since not in "-?")
        return (f"@available({introduced}, *) " if self.is_newer(deployed) else "") + "".join(
            f"@available({system}, unavailable) " for system, since in self.since.items() if since == "-")

    def is_newer(self, deployed):
        return any(since not in "-?" and version(since) > version(deployed[system]) for system, since in self.since.items())


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


# A public declaration of a stand-in. Its fact is that about the declaration of Apple's.
Declaration = collections.namedtuple("Declaration", "name type file line usr is_default")


def module_maps():
    return [word for map in sorted(ROOT.glob("Sources/C*/module.modulemap")) for word in ("-Xcc", f"-fmodule-map-file={map}")]


def read_stand_ins(toolchain):
    """Returns the public declarations of the stand-ins, with their places."""
    folder, found = fresh(WORK / "symbols"), []
    for module in FACTUAL:
        output("swift", "symbolgraph-extract", "-module-name", module, "-target", toolchain.triple, "-output-dir", folder,
               "-I", ".build/apple/debug/Modules", *module_maps(), "-minimum-access-level", "public", "-skip-synthesized-members")
    for graph in [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]:
        defaults = {relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"}
        for symbol in graph["symbols"]:
            name = ".".join(symbol["pathComponents"])
            if "location" in symbol and not name.endswith(".init(rawValue:)"):
                place, usr = symbol["location"], symbol["identifier"]["precise"]
                text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                file = pathlib.Path(urllib.parse.unquote(place["uri"].removeprefix("file://"))).relative_to(ROOT)
                line = place["position"]["line"]
                base = symbol["names"]["title"].split("(")[0].split(".")[-1]
                if base not in "".join(file.read_text().splitlines()[line:line + 1]):
                    sys.exit(f"apple-facts: error: {file} is newer than its module: run make apple-build first")
                found.append(Declaration(name, type_of(text), file, line, usr, usr in defaults))
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


def core_foundation(declaration):
    """Returns the declaration of a type of Core Foundation as a class."""
    name, kind = declaration[1], CLASSES[declaration[1]]
    value = f"; public protocol {name}Value: AnyObject {{}}; extension {kind}: {name}Value {{}}" if kind != "AnyObject" else ""
    return f"public typealias {name} = {kind}{value}"


def copy_stand_ins(pairs, deployed, has_objective_c):
    """Copies the stand-ins, and changes the copies as the facts say. Each declaration keeps its line."""
    folder = fresh(WORK / ("objective-c" if has_objective_c else "swift"))
    delegates = {fact.name.partition(".")[0] for _, fact in pairs if fact and fact.selector}
    prefixes = collections.defaultdict(dict)
    for declaration, fact in pairs:
        words = fact.availability(deployed) if fact else ""
        if has_objective_c and fact and not declaration.is_default:
            if fact.selector:
                words += f"@objc({fact.selector}) {'optional ' * fact.is_optional}"
            elif fact.name in delegates:
                words += "@objc "
        if prefixes[declaration.file].setdefault(declaration.line, words) != words:
            place = f"{declaration.file}:{declaration.line + 1}"
            problems.append(f"{place}: not all of these declarations are equally new, so give each a line of its own")
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
                text = re.sub(rf"^extension ({names}) \{{\n.*?^\}}$", lambda block: re.sub(".", "", block[0]), text,
                              flags=re.MULTILINE | re.DOTALL)
                text = re.sub(rf"(?<=protocol )({names}): NSObjectProtocol", r"\1: URLLoading.NSObjectProtocol", text)
                text = re.sub(rf"public typealias ({'|'.join(CLASSES)}) = .*", core_foundation, text)
                # Literals can be NSString, but not CFString. No literal conforms to a protocol of NSString.
                text = re.sub(r"(?<=: )(CF(?:Array|Data|Date|Dictionary|String))(\??)(?=[,)])", r"(any \1Value)\2", text)
                if file.name == "URLSessionDelegates.swift":
                    has_selectors = any(declaration.name == "Selector" for declaration, _ in pairs)
                    text += ROOT_PROTOCOL % (SELECTORS if has_selectors else ("", ""))
            copy = folder / file.relative_to(STAND_INS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text + "\n")
    return folder


# MARK: Compiling

class Toolchain:
    """The compiler for Linux, and what it needs to compile for Apple's systems."""

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
        # A target of the same length keeps a module intact. The zeros belong to the version: 15.0000 is 15.0.
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
    """Returns {module: (its target in a manifest, the folder of the package)}, and {system: the oldest supported version}."""
    targets, deployed = {}, {}
    for folder in (pathlib.Path("Tests/Darwin"), STAND_INS, pathlib.Path(".")):
        package = json.loads(output(
            "swift", "package", "--package-path", folder, "--scratch-path", WORK / "manifest", "dump-package"))
        # Tests/Darwin also has stand-ins of the other package.
        targets = {target["name"]: (target, folder) for target in package["targets"]
                   if folder.name != "Darwin" or target["name"] not in FACTUAL} | targets
    for platform in package["platforms"]:
        system = next(system for system in SYSTEMS if system.name.lower() == platform["platformName"].lower())
        deployed[system.name] = platform["version"]
    return targets, deployed


class Compiler:
    """Compiles modules for one of Apple's systems, and collects what the compiler refuses."""

    def __init__(self, system, stand_ins, toolchain, packages):
        self.packages, deployed = packages
        self.system, self.stand_ins, self.is_objective_c = system, stand_ins, stand_ins.name == "objective-c"
        self.modules = fresh(WORK / "modules" / f"{system.name}-{stand_ins.name}")
        self.index = self.modules / "index"
        target = f"arm64-apple-{system.target}{deployed[system.name]}"
        resources = toolchain.resources_for(system, target)
        self.options = [
            "-target", target, "-clang-target", toolchain.triple, "-sdk", resources, "-resource-dir", resources,
            "-I", self.modules, "-I", toolchain.resources, "-module-cache-path", WORK / "cache",
            "-plugin-path", toolchain.resources / "host/plugins",
            "-package-name", "pintle", "-D", "DEBUG", "-enable-testing", "-suppress-warnings", "-diagnostic-style", "llvm",
            "-disable-objc-attr-requires-foundation-module", "-experimental-allow-module-with-compiler-errors",
            "-enable-objc-interop" if self.is_objective_c else "-disable-objc-interop", *module_maps(),
            "-Xcc", f"-fmodule-map-file={toolchain.c_library}",
            *[word for folder in toolchain.headers for word in ("-Xcc", "-idirafter", "-Xcc", folder)]]

    def compile(self, module, files, *words):
        """Compiles files, and returns the errors."""
        units = [word for file in files for word in ("-index-unit-output-path", f"{module}/{file}")]
        product = self.modules / f"{module}.swiftmodule"
        result = run("swiftc", "-frontend", "-emit-module", "-module-name", module, "-emit-module-path", product, *self.options,
                     *words, *units, *files, stderr=subprocess.PIPE)
        errors = [line for line in result.stderr.splitlines() if ": error: " in line and not EXPECTED.search(line)]
        if not errors and not product.exists():
            errors = [f"{module}: the compiler stopped: {result.stderr[-1000:]}"]
        return errors

    def build(self, module, checks_bodies=True):
        """Compiles a module with the settings in its manifest, and returns the errors."""
        target, package = self.packages[module]
        folder = package / target.get("path", f"Tests/{module}")
        # The folder is no part of the module on Apple's systems. The stand-ins' package has it for the servers of its tests.
        excluded = [folder / name for name in target["exclude"] + ["Linux"] * (module == "PintleSystem")
                    if (module, name) != ("PintleUpdates", "Apple")]
        files = [file for file in sorted(folder.rglob("*.swift"))
                 if not any(other in (file, *file.parents) for other in excluded)]
        if any(list(rule["rule"]) == ["embedInCode"] for rule in target.get("resources", [])):
            # What SwiftPM writes for a file that becomes part of the program.
            files.append(WORK / "resources.swift")
            files[-1].write_text("struct PackageResources { static let authorities_json: [UInt8] = [] }\n")
        if module in FACTUAL:
            files = [self.stand_ins / file.relative_to(STAND_INS) for file in files]
        words = self.settings(module) + ([] if target["type"] == "executable" and len(files) == 1 else ["-parse-as-library"])
        if module in FACTUAL + OTHERS:
            words += ["-swift-version", "5", "-disable-availability-checking"]
        else:
            words += ["-swift-version", "6", "-index-store-path", self.index]
        return self.compile(module, files, *words, *["-experimental-skip-all-function-bodies"] * (not checks_bodies))

    def build_objective_c(self):
        """Compiles an empty module, for sources that ask whether they can import it."""
        file = fresh(WORK / "ObjectiveC") / "ObjectiveC.swift"
        file.touch()
        return self.compile("ObjectiveC", [file], "-parse-as-library")

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


def check_uses(uses, facts, exceptions, deployed):
    """Reports declarations of Foundation without a row. On Linux they have no availability, as those of other modules have."""
    used = [use for use in uses if re.match("s:(10Foundation|20FoundationNetworking)", use.usr) and use.module not in TESTS
            and not use.is_implicit and not re.match("(getter|setter):|init.rawValue:.$", use.name)]
    users = collections.defaultdict(set)
    for use in used:
        users[use.usr].add(use.module)
    for usr, (name, module) in names_of(used).items():
        if module in ("Foundation", "FoundationNetworking"):
            same = facts.get(exceptions.apple_name(name), [])
            if not same:
                problems.append(f"AppleFacts.tsv has no row for {name} of Foundation, which {', '.join(sorted(users[usr]))} uses")
            if any(fact.is_newer(deployed) for fact in same):
                problems.append(f"declare {name} in a stand-in, so that the compiler asks for #available")


def forwarded(module, uses, pairs):
    """Returns the selectors of the delegate methods that a module has and also names, to call them on another delegate."""
    selectors = {declaration.usr: fact.selector for declaration, fact in pairs if fact and not declaration.is_default}
    defaults = {declaration.usr for declaration, _ in pairs if declaration.is_default}
    own = [use for use in uses if use.module == module]
    fulfilled = {usr for use in own if use.usr not in defaults for usr in use.fulfils}
    named = {use.usr for use in own if not use.is_definition and not use.is_implicit}
    return {selectors[usr] for usr in named & fulfilled & set(selectors)} - {""}


def check_forwarding(uses, pairs, facts, exceptions):
    """Reports delegate methods that are not forwarded, and selectors in the sources that no such method has."""
    methods = {fact.selector: fact for same in facts.values() for fact in same if fact.selector}
    text = "\n".join(file.read_text() for file in sorted(pathlib.Path("Sources/PintleApple").rglob("*.swift")))
    # A long one may be in two parts.
    written = set(re.findall(r'"((?:URLSession|webView|download)\w*:[\w:]*)"', re.sub(r'"\s*\+\s*"', "", text)))
    # The Objective-C runtime forwards methods of protocols that PintleApple does not conform to, by their selectors.
    foreign = written - {fact.selector for _, fact in pairs if fact}
    for selector in sorted(set(methods) - forwarded("PintleApple", uses, pairs) - foreign):
        if not exceptions.has("not forwarded", selector):
            name = methods[selector].name
            problems.append(f"{name} is not forwarded: forward it, or say in AppleExceptions.tsv why not ({selector})")
    unknown = sorted(written - set(methods))
    problems.extend(f"Sources/PintleApple names {selector}, and AppleFacts.tsv has no such method" for selector in unknown)


# MARK: Planted faults

def check_planted(errors, uses, pairs):
    """Reports each planted fault that is not found, and each other line in which one is found.

    - Parameter errors: {system: the errors in the file}
    """
    lines = PLANTED.read_text().splitlines()
    for system, found in errors.items():
        for number, line in enumerate(lines, 1):
            here = " ".join(error for error in found if error.startswith(f"{PLANTED}:{number}:"))
            fault = re.search(r"// (newer|refused)(?: on ([\w, ]+))?: (.*)", line)
            # Types are the same on each system, so those of Objective-C are only compiled for iOS.
            is_there = fault and system in (fault[2] or system) and (fault[1] == "newer" or system == "iOS")
            if is_there and fault[3] not in here:
                problems.append(f"{PLANTED}:{number}: the compiler does not find the fault on {system}: {fault[3]}")
            if here and not is_there:
                problems.append(f"there is no fault, but the compiler finds one on {system}: {here}")
        problems.extend(error for error in found if not error.startswith(f"{PLANTED}:"))
    wanted = {line.split("// forwarded: ")[1] for line in lines if "// forwarded: " in line}
    if forwarded("Planted", uses, pairs) != wanted:
        problems.append(f"{PLANTED}: forwarded are {forwarded('Planted', uses, pairs)}, and should be {wanted}")


def main():
    toolchain, packages, facts, exceptions = Toolchain(), read_packages(), read_facts(), Exceptions()
    targets, deployed = packages
    examples = EXAMPLES + sorted(name for name in targets if targets[name][0].get("path") == "Repository/Snippets")
    pairs = pair(read_stand_ins(toolchain), facts, exceptions)
    swift, objective_c = copy_stand_ins(pairs, deployed, False), copy_stand_ins(pairs, deployed, True)
    compilers = [Compiler(system, stand_ins, toolchain, packages) for system, stand_ins in
                 [(SYSTEMS[0], swift), (SYSTEMS[0], objective_c)] + [(system, swift) for system in SYSTEMS[1:]]]
    planted = collections.defaultdict(list)

    def build(compiler):
        """Compiles everything for one system, and returns the errors."""
        name, is_first = compiler.system.name, compiler is compilers[0]
        missing = {module for module in FACTUAL if all(
            fact.since[name] == "-" for declaration, fact in pairs if fact and module in declaration.file.parts)}
        if name != "iOS":
            missing |= {*USER_INTERFACE, *examples, *TESTS}
        if name != "macOS":
            missing |= {*TOOL}
        if not is_first:
            # They take as long as all the rest, and use nothing but Swift and the core.
            missing.add("PintleTests")
        errors = compiler.build_objective_c() if compiler.is_objective_c else []
        for module in FACTUAL + OTHERS + CORE + TOOL + ADAPTERS + examples + TESTS:
            if module not in missing:
                # What the core uses of Swift is as old on each system, so one compiler checks it.
                errors += compiler.build(module, module not in FACTUAL + OTHERS and (is_first or module not in CORE))
        planted[name] += compiler.compile("Planted", [PLANTED], *compiler.settings("PintleApple"), "-swift-version", "6",
                                          "-parse-as-library", "-index-store-path", compiler.index)
        return errors

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems.extend(sorted({error for errors in pool.map(build, compilers) for error in errors}))
    uses = read_uses(compilers[0].index, toolchain)
    check_uses(uses, facts, exceptions, deployed)
    check_forwarding(uses, pairs, facts, exceptions)
    check_planted(planted, uses, pairs)
    problems.extend(f"AppleExceptions.tsv has a row that nothing needs: {', '.join(row)}"
                    for row in exceptions.rows if row not in exceptions.needed)
    for problem in problems:
        print(f"apple-facts: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print("apple-facts: not found for each system: " + "; ".join(
        row["symbol"] for row in rows("AppleFacts.tsv") if "?" in (row[system.name] for system in SYSTEMS)))
    print(f"apple-facts: Apple's side agrees with {sum(map(len, facts.values()))} facts on {len(SYSTEMS)} systems")


main()
