#!/usr/bin/env python3
"""Runs command lines of the tool, and compares what it prints, writes and returns with an earlier recording.

    Scripts/corpus.py record FOLDER    writes FOLDER/GROUP.txt for each file of Tests/Corpus/expected
    Scripts/corpus.py compare FOLDER   records again, prints the differences and exits with 1 if there are any

A case is a line of Tests/Corpus/expected that begins with "$ ". To add one, write the line and record. Bash runs it in a folder
of its own with the files of corpus_kit.py. The calendar stands still (clock.c). The lines below it are what happened: output
after two blanks, errors after "!", each file that was written after ">" and "|", an exit code above 0 after "=".

The tool is PINTLE_TOOL, or .build/release/pintle. ONLY=lint,plan runs only these. The outputs without masks and in full length
are left in .build/corpus.
"""
import concurrent.futures, contextlib, difflib, hashlib, os, pathlib, re, shutil, signal, subprocess, sys, tempfile

from corpus_kit import Kit

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS, RAW = ROOT / "Tests" / "Corpus", ROOT / ".build" / "corpus"
PARALLEL = 3
# What is longer is kept as its first lines and a hash.
LONGEST, SHOWN = 2_500, 25
# Groups in which the tool itself makes keys and certificates, which differ from run to run.
RANDOM = {"demo", "keygen", "rehearse"}


def lines(path):
    """Returns the cases of a file, and its comments."""
    return [line for line in path.read_text().split("\n") if line.startswith(("$ ", "# "))]


class Mask:
    """Replaces what differs between two recordings, and gives keys and certificates the names of the kit, which are shorter."""

    def __init__(self, kit, folder, random):
        self.names, self.random, self.seen = kit.names, random, {}
        self.places = {folder: "FOLDER", os.path.dirname(folder): "TEMPORARY", str(ROOT): "PROJECT", "\x1b": "\\e", "\r": "\\r"}

    def __call__(self, text):
        for place, name in self.places.items():
            text = text.replace(place, name)
        text = NAMED.sub(lambda match: self.names.get(match[0], match[0]), text)
        text = re.sub(r"(?s)<style>.*?</style>", lambda match: f"<style>{digest(match[0])}</style>", text)
        text = re.sub(r'(?<= d=")[^"]{200,}', lambda match: f"{match[0][:20]}... {digest(match[0])}", text)
        for pattern, name in CHANGING + (RANDOMS if self.random else []):
            text = re.sub(pattern, lambda match: self.number(match[0], name), text)
        return text

    def number(self, text, name):
        """Numbers texts in the order of first appearance."""
        known = self.seen.setdefault(name, [])
        if text not in known:
            known.append(text)
        return name.replace("%d", str(known.index(text) + 1))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Certificates, also in JSON, pins, fingerprints and ports.
NAMED = re.compile(
    r"-----BEGIN CERT(?s:.*?)-----END CERTIFICATE-----(?:\n|\\n)|[\w+/]{43}=|\b[0-9a-f]{64}\b|: ?\d{4,5}\b")
CHANGING = [
    (r'(?<="milliseconds":)\d+|(?<="milliseconds": )\d+', "N"),
    (r"(?<=done in )\d+\.\d(?= s)", "N"),
    (r"(?<=OpenSSL )\d+\.\d+\.\d+|(?<=here is )\d+\.\d+\.\d+", "VERSION"),
]
RANDOMS = [
    (r"(?<=127\.0\.0\.1:)\d{4,5}\b|(?<=localhost:)\d{4,5}\b|(?<=example\.com:)\d{5}\b", "PORT%d"),
    (r"\b\d+\.\d s\b", "N s"),
    (r'(?<= time=")[\d.]+', "N"),
    (r'(?<=class="number">)\d+(?=</td><td class="number">\d*</td><td>)', "N"),
    (r"(?<= Root )[0-9a-f]{6}\b", "ROOT%d"),
    (r"(?m)(?<=\d) +\d+$", " N"),
    (r"(?s)-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", "PEM%d"),
    (r"((?<=sha256/)|(?<=sha256//)|(?<![\w+/]))[A-Za-z0-9+/]{43}=", "PIN%d"),
    (r"\b[0-9a-f]{64}\b", "HASH%d"),
    (r"\b([0-9A-F]{2}:){2,31}[0-9A-F]{2}\b", "FINGERPRINT%d"),
    (r"(?<=pintle-demo-)\w{6}", "X"),
]


def shorten(text):
    if len(text) <= LONGEST:
        return text
    lines = text.splitlines(True)
    head = "".join(lines[:SHOWN])[:LONGEST // 2]
    return head + ("" if head.endswith("\n") else "\n") + f"... {len(lines)} lines, SHA-256 {digest(text)}\n"


def block(mark, text):
    """Marks each line, so that no output can be taken for another part of the recording."""
    if not text:
        return ""
    lines = text.split("\n")
    end = "" if lines[-1] == "" else "\\ no line break at the end\n"
    return "".join(f"{mark} {line}".rstrip(" ") + "\n" for line in lines[:None if end else -1]) + end


def readable(content):
    try:
        return content.decode()
    except UnicodeDecodeError:
        return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}\n"


def end_group(number):
    """Ends what a case has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)


def run(kit, environment, group, line):
    """Runs one case. Returns what it did: masked and shortened, and raw."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as name:
        folder = pathlib.Path(name).resolve() / "case"
        folder.mkdir()
        # Links take less time than copies. Nothing writes into these files.
        for path in kit.files:
            os.link(path, folder / path.name)
        process = subprocess.Popen(
            ["bash", "-c", line[2:]], cwd=folder, env={**environment, "TMPDIR": name, "HOME": name},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            out, errors = process.communicate()
            errors += b"corpus.py: killed after 60 s\n"
        end_group(process.pid)
        parts = [(" ", "", out), ("!", "", errors)]
        for path in sorted(folder.rglob("*")):
            kept = kit.folder / path.relative_to(folder)
            # in.* are inputs that the case has made.
            if path.is_file() and not path.name.startswith("in.") and not (kept.exists() and kept.samefile(path)):
                parts.append(("|", f"> {path.relative_to(folder)}\n", path.read_bytes()))
        parts += [("|", f"> {path.name} is gone\n", b"") for path in kit.files if not (folder / path.name).exists()]
        mask = Mask(kit, str(folder), group in RANDOM)
        end = f"= {process.returncode}\n\n" if process.returncode else "\n"
        return [line + "\n" + "".join(head + block(mark, change(readable(content))) for mark, head, content in parts) + end
                for change in (lambda text: shorten(mask(text)), lambda text: text)]


def record():
    """Returns the recordings of all groups: their masked and their raw texts."""
    tool = pathlib.Path(os.environ.get("PINTLE_TOOL") or ROOT / ".build/release/pintle").resolve()
    if not tool.exists():
        sys.exit(f"corpus: there is no tool {tool}; make build builds it")
    only = [name for name in os.environ.get("ONLY", "").split(",") if name]
    groups = {path.stem: lines(path) for path in sorted(CORPUS.glob("expected/*.txt")) if not only or path.stem in only}
    with tempfile.TemporaryDirectory(prefix="corpus-kit-") as name:
        base = pathlib.Path(name)
        (base / "files").mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", base / "clock.so", CORPUS / "clock.c"], check=True)
        kit = Kit(base / "files", CORPUS / "inputs")
        kit.start(base)
        environment = {
            **kit.variables, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "BASH_ENV": str(CORPUS / "cases.sh"),
            "CLOCK": str(base / "clock.so"), "SSL_CERT_FILE": str(base / "files" / "machine.pem"), "SSL_CERT_DIR": f"{name}/none",
            "TOOL": str(tool), "examples": str(ROOT / "Examples"),
        }
        jobs = [(group, line) for group, text in groups.items() for line in text]

        def result(job):
            return run(kit, environment, *job) if job[1].startswith("$") else [f"{job[1]}\n\n"] * 2

        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            results = list(pool.map(result, jobs))
        kit.stop()
        kit.check()
    texts = {group: ["", ""] for group in groups}
    for (group, _), pair in zip(jobs, results):
        for index, text in enumerate(pair):
            texts[group][index] += text
    return texts


def write(folder, texts):
    folder.mkdir(parents=True, exist_ok=True)
    for group, text in texts.items():
        (folder / f"{group}.txt").write_text(text)


def missing():
    """Returns why there can be no recording; None if there can."""
    if sys.platform != "linux":
        return "the calendar can be stopped on Linux only"
    for program in ("bash", "cc", "curl", "openssl", "script"):
        if not shutil.which(program):
            return f"there is no {program}"
    version = subprocess.run(["openssl", "version"], capture_output=True, text=True).stdout
    return None if version.startswith("OpenSSL 3.0.") else f"it was recorded with OpenSSL 3.0, and here is {version.strip()}"


def main(action, folder):
    reason = missing()
    if reason:
        print(f"corpus: skipped, because {reason}")
        return action == "record"
    texts = record()
    write(RAW, {group: raw for group, (_, raw) in texts.items()})
    if action == "record":
        return write(folder, {group: masked for group, (masked, _) in texts.items()})
    differing = []
    for group, (masked, _) in texts.items():
        path = folder / f"{group}.txt"
        before = path.read_text() if path.exists() else ""
        if before != masked:
            differing.append(group)
            print(*difflib.unified_diff(
                before.splitlines(), masked.splitlines(), str(path), f"{group}.txt now", lineterm="", n=8), sep="\n")
    if differing:
        print(f"corpus: {', '.join(differing)} differ. If that is intended: make corpus-accept")
        return 1
    print(f"corpus: {sum(len(re.findall('(?m)^[$] ', text)) for text, _ in texts.values())} cases, as they were")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("record", "compare"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
