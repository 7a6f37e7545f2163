"""Reads certificates and computes their pins, with the command openssl."""
import base64, datetime, hashlib, pathlib, re, subprocess

PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.S)
SUFFIXES = {".crt", ".pem", ".der", ".cer"}


def certificates(path):
    """Yields the DER encoding of each certificate of a file."""
    data = path.read_bytes()
    blocks = [base64.b64decode(block) for block in PEM.findall(data)]
    yield from blocks or ([data] if data[:1] == b"\x30" else [])


def describe(der):
    """Returns the names by which an entry can call a certificate, the best first, its pin and its last day."""
    command = ["openssl", "x509", "-inform", "DER", "-noout", "-subject", "-nameopt", "multiline,utf8,-esc_msb"]
    text = subprocess.run(command + ["-enddate", "-pubkey"], input=der, capture_output=True, check=True).stdout.decode()
    field = dict(re.findall(r"^ +(\w+) += (.*)$", text, re.M))
    common, unit, organization = (field.get(k + "Name", "") for k in ("common", "organizationalUnit", "organization"))
    # "GlobalSign" has one common name for several roots, and Let's Encrypt's are as short as "R10".
    names = [unit] * (common == organization) + [common, f"{organization} {common}"]
    key = base64.b64decode("".join(re.search(r"PUBLIC KEY-----(.*?)-----END", text, re.S)[1].split()))
    end = datetime.datetime.strptime(re.search(r"notAfter=(.*)", text)[1], "%b %d %H:%M:%S %Y %Z")
    return [n for n in names if n], "sha256/" + base64.b64encode(hashlib.sha256(key).digest()).decode(), str(end.date())


def read(sources):
    """Returns (source, file, names, pin, last day) of each certificate, each certificate once a source."""
    found = []
    for source in sources:
        seen, path = set(), pathlib.Path(source)
        files = [p for p in sorted(path.rglob("*")) if p.suffix in SUFFIXES] if path.is_dir() else [path]
        for file in files:
            for der in certificates(file):
                if der not in seen:
                    seen.add(der)
                    found.append((source, file, *describe(der)))
    return found
