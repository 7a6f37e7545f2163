#!/usr/bin/env python3
"""Gives the tests a score: changes the code in one place at a time, and asks whether a test fails.

    mutants.py list                builds all mutants, and prints how many each folder has
    mutants.py sample [COUNT]      runs COUNT mutants, drawn with the date as the seed; the nightly run: `make mutants`
    mutants.py all [PATTERN]       runs all, or those whose line matches; before a release: `make mutants-all`

A mutant that no test finds is a survivor. Tests/mutants.txt lists those that no test can find, with the reason: the program does
the same with them. A survivor that is not listed fails the run, and so does a listed one that a test finds or that is gone. The
lines under "Not yet looked at." are debts: each needs a reason or a test.

FOLDERS below names the code, and the tests that judge it: those of its own module, no end-to-end tests. Operators:

    negated, true, false           a condition of if, guard, while, where and ?:, a comparison, a Bool that is returned
    true, false                    an operand of && and of ||: the value that leaves the decision to the other operand
    <=, >= and so on               a comparison, with and without equality; == with a number becomes <= and >=
    + 1, - 1                       a number, but not in a pattern or a default argument
    negated                        a literal true or false
    removed                        a statement that is a call or an assignment, but no assignment in an initializer
    nil, []                        a value that is returned, and the left side of ??
    without the first, second      an operand of + that is no number and no text
    without the call               filter, intersection, dropLast and other calls that return a part of what they get
    never                          a case of a switch that has a default; a condition that only binds names or matches a pattern

Texts have no mutants. All mutants are in one build, behind a switch that Scripts/mutants.swift writes into a copy of the package;
what does not compile is left out, and counted. Each suite runs once to record which mutants would change a value in it. A mutant is
then judged only by these suites, and one that no suite reaches has survived. .build/mutants has the copy and results.tsv.
"""
import collections, concurrent.futures, datetime, hashlib, json, os, pathlib, random, re, resource, shutil, signal
import subprocess, sys, threading, time, uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/mutants"
COPY, BUILD, LIST = WORK / "package", WORK / "build", ROOT / "Tests/mutants.txt"
# Code, its module, and the tests that judge it: a regular expression for the names of suites.
FOLDERS = [
    ("Sources/Pintle/Decision", r"PintleTests\.|PintleURLSessionTests\.Receipt"),
    ("Sources/Pintle/Policy", r"PintleTests\."),
    ("Sources/Pintle/Profile", r"PintleTests\.|PintleOpenSSLTests\.(CertificatePolic|ConstraintWork|CriticalExtension|KeyValue"
     r"|NameConstraintDot|SubtreeComparison|UnreadableExtension)"),
    ("Sources/PintleUpdates/Verification", r"PintleUpdatesTests\."),
    ("Sources/PintleURLSession/Linux/Task/TaskStateMachine", r"PintleURLSessionTests\.TaskStateMachine"),
]
TESTS = ["PintleTests", "PintleOpenSSLTests", "PintleUpdatesTests", "PintleURLSessionTests"]
# Modules whose code the slow suites call millions of times.
OPTIMIZED = ["Pintle", "PintleCrypto", "PintlePolicyFile", "PintleUpdates", "PintleTests", "PintleUpdatesTests"]
# SwiftPM builds only what these tests need.
MANIFEST = """
let optimized = [%s]
var needed: Set<String> = [%s]
while true {
    let more = package.targets.filter { needed.contains($0.name) }.flatMap(\\.dependencies).compactMap { dependency in
        switch dependency {
        case .byNameItem(let name, _), .targetItem(let name, _): name
        default: nil
        }
    }
    guard !needed.isSuperset(of: more) else { break }
    needed.formUnion(more)
}
for target in package.targets where optimized.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
}
package.targets.removeAll { !needed.contains($0.name) }
package.products.removeAll()
package.dependencies.removeAll()
""" % tuple(", ".join(f'"{name}"' for name in names) for names in (OPTIMIZED, TESTS))
OPTIONS = ["-Xswiftc", "-wmo", "-Xswiftc", "-num-threads", "-Xswiftc", "2", "-Xswiftc", "-gnone", "-Xswiftc", "-use-ld=lld"]
JOBS = int(os.environ.get("MUTANTS_JOBS", min(2, os.cpu_count() or 1)))
# The reason of a survivor that may need a test.
UNREAD = "Not yet looked at."
# The seconds after which no further mutant of a sample begins.
SAMPLE_SECONDS = 240


def say(text):
    print(text, flush=True)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


# The copy and its mutants.

def files():
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def mutated_files():
    return [name for prefix, _ in FOLDERS for name in files() if name.startswith(prefix) and name.endswith(".swift")]


def write(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_package():
    mutated, present = set(mutated_files()), set()
    for name in files():
        if name.startswith((".git", "API/", "Examples/", "Fuzz/", "Snippets/")):
            continue
        present.add(name)
        if name == "Package.swift":
            write(COPY / name, (ROOT / name).read_bytes() + MANIFEST.encode())
        elif name not in mutated:
            write(COPY / name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, COPY / name)
    for module in {name.split("/")[1] for name in mutated}:
        name = f"Sources/{module}/Mutants.swift"
        write(COPY / name, (ROOT / "Scripts/mutants.switch.swift").read_bytes())
        present.add(name)
    for path in COPY.rglob("*"):
        if path.is_file() and str(path.relative_to(COPY)) not in present:
            path.unlink()


def compile_mutator():
    """Compiles mutants.swift with the toolchain's own parser."""
    program, source = WORK / "mutate", ROOT / "Scripts/mutants.swift"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    host = pathlib.Path(os.path.realpath(shutil.which("swiftc"))).parent.parent / "lib/swift/host"
    libraries = [f"-lSwift{name}" for name in ("Syntax", "Parser", "Operators")]
    result = run("swiftc", "-swift-version", "6", "-I", host, "-L", host, *libraries, "-Xlinker", "-rpath", "-Xlinker", host,
                 "-o", program, source)
    if result.returncode:
        sys.exit(f"mutants: the toolchain's parser cannot be used:\n{result.stdout}")
    return program


def write_mutants(program, dropped):
    """Writes the mutated files, and returns all mutants by number."""
    pairs = [part for name in mutated_files() for part in (name, COPY / name)]
    for name in pairs[1::2]:
        name.parent.mkdir(parents=True, exist_ok=True)
    result = subprocess.run([program, "1", ",".join(map(str, sorted(dropped))), *map(str, pairs)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, check=True)
    mutants = {mutant["id"]: mutant for mutant in map(json.loads, result.stdout.splitlines())}
    # A line of Tests/mutants.txt has no number, because numbers change with each change of the code.
    seen = collections.Counter()
    for mutant in mutants.values():
        text = mutant["text"] if len(mutant["text"]) <= 90 else mutant["text"][:60] + " … " + mutant["text"][-27:]
        name = f"{mutant['file']}: {mutant['place']}: {mutant['change']}: {text}"
        seen[name] += 1
        mutant["name"] = name if seen[name] == 1 else f"{name} #{seen[name]}"
    return mutants


def build():
    """Builds the tests with all mutants that compile. Returns the mutants and the numbers of the sites that do not compile."""
    copy_package()
    program = compile_mutator()
    digest = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in
                                     [*mutated_files(), "Scripts/mutants.swift", "Scripts/mutants.switch.swift"])).hexdigest()
    known = WORK / "dropped.json"
    former = json.loads(known.read_text()) if known.exists() else {}
    dropped = set(former["sites"]) if former.get("digest") == digest else set()
    environment = {**os.environ, "PINTLE_WARNINGS_AS_ERRORS": "0"}
    for attempt in range(40):
        mutants = write_mutants(program, dropped)
        result = run("swift", "build", "--package-path", COPY, "--scratch-path", BUILD, "--build-tests",
                     "--disable-build-manifest-caching", *OPTIONS, env=environment)
        (WORK / "build.log").write_text(result.stdout)
        if result.returncode == 0:
            return mutants, dropped
        found = failing_sites(result.stdout, attempt)
        if not found - dropped:
            sys.exit(f"mutants: the copy does not compile, and no mutant is the reason:\n{result.stdout[-4000:]}")
        say(f"  {len(found - dropped)} sites do not compile and are left out")
        dropped |= found
        known.write_text(json.dumps({"digest": digest, "sites": sorted(dropped)}))
    sys.exit("mutants: the copy does not compile")


def failing_sites(log, attempt):
    """Returns the sites that the errors of the compiler point at: the nearest, and later all of the line."""
    found = set()
    for name, line, column in set(re.findall(r"^(\S+\.swift):(\d+):(\d+): error:", log, re.MULTILINE)):
        path = pathlib.Path(name)
        if not path.is_relative_to(COPY):
            continue
        lines = path.read_text().splitlines()
        for number in [int(line), *range(int(line) - 1, max(0, int(line) - 30), -1)]:
            sites = [(match.start(), int(match[1])) for match in re.finditer(r"\bmutant(?:_\w+)?\((\d+)", lines[number - 1])]
            if sites:
                # Only these repeat an expression, often one whose type the compiler finds in one way only.
                doubled = {int(site) for site in re.findall(r"\(mutant\((\d+)\) \?", lines[number - 1])}
                before = [site for start, site in sites if number < int(line) or start <= int(column)]
                found |= doubled or ({(before or [sites[0][1]])[-1]} if attempt < 3 else {site for _, site in sites})
                break
    return found


# The suites.

def binary():
    return next((BUILD / "debug").glob("*.xctest"))


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def run_suites(suites, seconds, **environment):
    """Runs suites until a test fails. Returns `passed`, `failed` or `timed out`, and the seconds."""
    # Suites start processes with sessions of their own, which a mutant may keep busy for ever.
    mark = str(uuid.uuid4())
    pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")(/|$)"
    begin = time.monotonic()
    process = subprocess.Popen(
        [binary(), "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width", "4", "--filter", pattern],
        cwd=COPY, env={**os.environ, **environment, "PINTLE_MUTANT_RUN": mark}, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit)
    timer_fired = threading.Event()

    def stop():
        timer_fired.set()
        kill(process, mark)
    timer = threading.Timer(seconds, stop)
    timer.start()
    outcome, tail = None, collections.deque(maxlen=30)
    for line in process.stdout:
        tail.append(line)
        if re.match(r"✘ Test .* recorded an issue", line):
            outcome = "failed"
            kill(process, mark)
            break
    process.wait()
    timer.cancel()
    kill(process, mark)
    if outcome is None:
        outcome = "timed out" if timer_fired.is_set() else "passed" if process.returncode == 0 else "failed"
    return outcome, time.monotonic() - begin, "".join(tail)


def kill(process, mark):
    """Ends a run, and the processes that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except OSError:
            pass


def suites():
    listed = run(binary(), "--testing-library", "swift-testing", "--list-tests", cwd=COPY).stdout
    names = {line.split("/")[0] for line in listed.splitlines() if re.match(r"Pintle\w*Tests\.\w+", line)}
    return sorted(name for name in names if any(re.match(tests, name) for _, tests in FOLDERS))


def measure(names, count):
    """Runs each suite without a mutant. Returns its seconds, and the mutants that it reaches."""
    result, failed = {}, []

    def one(name):
        path = WORK / f"reached.{name}"
        path.write_bytes(bytes(count + 1))
        outcome, seconds, tail = run_suites([name], 600, PINTLE_MUTANTS_REACHED=str(path))
        if outcome != "passed":
            failed.append(f"{name} {outcome} without a mutant:\n{tail}")
        data = path.read_bytes()
        path.unlink()
        return name, seconds, {number for number in range(count + 1) if data[number]}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for name, seconds, reached in pool.map(one, names):
            result[name] = (seconds, reached)
    if failed:
        sys.exit("mutants: " + "".join(failed))
    return result


# The verdict on a mutant.

def judge(mutant, measured):
    """Returns the outcome of one mutant and who found it."""
    tests = next(tests for prefix, tests in FOLDERS if mutant["file"].startswith(prefix))
    able = sorted((seconds, name) for name, (seconds, reached) in measured.items()
                  if mutant["id"] in reached and re.match(tests, name))
    if not able:
        return "not reached", ""
    # The fast suites first, in one process.
    groups, total = [[]], 0
    for seconds, name in able:
        if total and total + seconds > 2 * len(groups) ** 2:
            groups.append([])
            total = 0
        groups[-1].append(name)
        total += seconds
    verdict = "survived", ""
    for group in groups:
        bound = 15 + 4 * sum(measured[name][0] for name in group)
        outcome, _, _ = run_suites(group, bound, PINTLE_MUTANT=str(mutant["id"]))
        if outcome == "failed":
            return "killed", " ".join(group[:3])
        # An endless loop, or a slow machine: another suite may still find it.
        if outcome == "timed out":
            verdict = outcome, " ".join(group[:3])
    return verdict


def listed():
    """Returns the survivors of Tests/mutants.txt with their reasons. A reason is indented, and belongs to the lines before it."""
    result, waiting, isReason = {}, [], False
    for number, line in enumerate(LIST.read_text().splitlines() if LIST.exists() else [], 1):
        if line.startswith("Sources/"):
            if isReason:
                waiting, isReason = [], False
            if line in result:
                sys.exit(f"{LIST}:{number}: listed twice")
            result[line] = ""
            waiting.append(line)
        elif line.startswith("    "):
            isReason = True
            for name in waiting:
                result[name] = f"{result[name]} {line.strip()}".strip()
    for name, reason in result.items():
        if not reason:
            sys.exit(f"{LIST}: no reason for {name}")
    return result


def main():
    mode, *rest = sys.argv[1:] or ["help"]
    if mode not in ("list", "sample", "all"):
        sys.exit(__doc__)
    began = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    mutants, dropped = build()
    alive = {number: mutant for number, mutant in mutants.items() if mutant["site"] not in dropped}
    for prefix, _ in FOLDERS:
        inside = [mutant for mutant in mutants.values() if mutant["file"].startswith(prefix)]
        say(f"{prefix}: {len(inside)} mutants, {sum(mutant['id'] not in alive for mutant in inside)} of which do not compile")
    say(f"built in {time.monotonic() - began:.0f} s")
    reasons = listed()
    unread = sum(reason == UNREAD for reason in reasons.values())
    say(f"{LIST.relative_to(ROOT)}: {len(reasons) - unread} survivors with a reason, {unread} still to be looked at")
    known = {mutant["name"] for mutant in alive.values()}
    problems = [f"listed, and no such mutant exists: {name}" for name in reasons if name not in known]
    if mode == "list":
        return finish(problems)

    measured = measure(suites(), max(mutants))
    say(f"{len(measured)} suites measured, after {time.monotonic() - began:.0f} s")
    chosen = [alive[number] for number in sorted(alive)]
    if mode == "all" and rest:
        chosen = [mutant for mutant in chosen if re.search(rest[0], mutant["name"])]
    if mode == "sample":
        seed = datetime.date.today().isoformat()
        say(f"sample of {seed}")
        chosen = random.Random(seed).sample(chosen, min(int(rest[0]) if rest else 400, len(chosen)))
    start, outcomes, lines = time.monotonic(), collections.defaultdict(collections.Counter), []

    def one(mutant):
        if mode == "sample" and time.monotonic() - start > SAMPLE_SECONDS:
            return mutant, "left out", ""
        return mutant, *judge(mutant, measured)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool, open(WORK / "results.tsv", "w") as results:
        for done, (mutant, outcome, by) in enumerate(pool.map(one, chosen), 1):
            folder = next(prefix for prefix, _ in FOLDERS if mutant["file"].startswith(prefix))
            outcomes[folder][outcome] += 1
            print(outcome, mutant["id"], mutant["line"], mutant["name"], by, sep="\t", file=results, flush=True)
            survives = outcome in ("survived", "not reached")
            if survives and mutant["name"] not in reasons:
                problems.append(f"no test finds it ({outcome}), line {mutant['line']}: {mutant['name']}")
            # A slow machine can let any mutant time out.
            if outcome == "killed" and mutant["name"] in reasons:
                problems.append(f"listed, and a test finds it: {mutant['name']}")
            if done % 100 == 0:
                say(f"  {done} of {len(chosen)}, {time.monotonic() - start:.0f} s")
    for folder, counts in outcomes.items():
        say(f"{folder}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    say(f"{len(chosen)} mutants in {time.monotonic() - start:.0f} s, {time.monotonic() - began:.0f} s in all")
    finish(problems)


def finish(problems):
    for problem in problems:
        say(problem)
    if problems:
        sys.exit(f"mutants: {len(problems)} findings")
    say("mutants: every survivor that was found is listed with its reason")


if __name__ == "__main__":
    main()
