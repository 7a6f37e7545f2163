"""Inputs of the cases of corpus.py: certificates, files and servers on loopback, and the names by which cases call them.

Keys and signatures are computed from names, so each recording has the same bytes.
"""
import base64, datetime, hashlib, json, socket, ssl, string, subprocess, sys, threading

NOW = datetime.datetime(2027, 1, 15, 8, tzinfo=datetime.timezone.utc)  # as in Tests/Corpus/clock.c
DAY = datetime.timedelta(days=1)


def seed(name):
    return int.from_bytes(hashlib.sha512(name.encode()).digest(), "big")


# DER

def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    length = bytes([size]) if size < 128 else (lambda b: bytes([128 + len(b)]) + b)(
        size.to_bytes((size.bit_length() + 7) // 8, "big"))
    return bytes([tag]) + length + body


def sequence(*parts):
    return der(0x30, *parts)


def integer(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(dotted):
    first, second, *rest = map(int, dotted.split("."))
    body = bytes([40 * first + second])
    for number in rest:
        digits = [number & 127]
        while number := number >> 7:
            digits.insert(0, 128 | number & 127)
        body += bytes(digits)
    return der(6, body)


def bits(body):
    return der(3, b"\0", body)


def moment(time):
    form, tag = ("%y%m%d%H%M%SZ", 23) if time.year < 2050 else ("%Y%m%d%H%M%SZ", 24)
    return der(tag, time.strftime(form).encode())


def pem(label, body):
    text = base64.b64encode(body).decode()
    lines = [text[i:i + 64] for i in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


# Keys

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and a[1] != b[1]:
        return None
    slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(number):
    result, power = None, BASE
    while number:
        if number & 1:
            result = add(result, power)
        power, number = add(power, power), number >> 1
    return result


class CurveKey:
    """A key on P-256."""
    digest = "sha256"
    algorithm = sequence(oid("1.2.840.10045.4.3.2"))

    def __init__(self, name):
        self.secret = seed(name) % ORDER
        x, y = multiply(self.secret)
        point = b"\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
        kind = sequence(oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7"))
        self.public = sequence(kind, bits(point))
        private = sequence(integer(1), der(4, self.secret.to_bytes(32, "big")), der(0xA1, bits(point)))
        self.private = sequence(integer(0), kind, der(4, private))

    def sign(self, body):
        digest = hashlib.sha256(body).digest()
        nonce = seed(f"{self.secret} {digest.hex()}") % ORDER
        r = multiply(nonce)[0] % ORDER
        return sequence(integer(r), integer(pow(nonce, -1, ORDER) * (int.from_bytes(digest, "big") + r * self.secret) % ORDER))


class RSAKey:
    """An RSA key, whose signatures may use SHA-1."""

    def __init__(self, name, size=2048, digest="sha256"):
        self.digest = digest
        number = {"sha256": 11, "sha1": 5}[digest]
        self.algorithm = sequence(oid(f"1.2.840.113549.1.1.{number}"), der(5))
        p, q = (self.prime(f"{name} {letter}", size // 2) for letter in "pq")
        self.modulus, self.size = p * q, size // 8
        self.secret = pow(65537, -1, (p - 1) * (q - 1))
        kind = sequence(oid("1.2.840.113549.1.1.1"), der(5))
        self.public = sequence(kind, bits(sequence(integer(self.modulus), integer(65537))))
        parts = [0, self.modulus, 65537, self.secret, p, q, self.secret % (p - 1), self.secret % (q - 1), pow(q, -1, p)]
        self.private = sequence(integer(0), kind, der(4, sequence(*map(integer, parts))))

    @staticmethod
    def prime(name, size):
        start = int.from_bytes(hashlib.shake_256(name.encode()).digest(size // 8), "big") | 3 << (size - 2) | 1
        small = [n for n in range(3, 2000, 2) if all(n % k for k in range(3, int(n**.5) + 1, 2))]
        while any(start % n == 0 for n in small) or pow(2, start - 1, start) != 1 or start % 65537 == 1:
            start += 2
        return start

    def sign(self, body):
        numbers = {"sha256": "2.16.840.1.101.3.4.2.1", "sha1": "1.3.14.3.2.26"}
        digest = hashlib.new(self.digest, body).digest()
        info = sequence(sequence(oid(numbers[self.digest]), der(5)), der(4, digest))
        padded = b"\0\1" + b"\xff" * (self.size - 3 - len(info)) + b"\0" + info
        return pow(int.from_bytes(padded, "big"), self.secret, self.modulus).to_bytes(self.size, "big")


class EdwardsKey:
    """An Ed25519 key, as signs updates. OpenSSL derives the public half."""

    def __init__(self, name):
        secret = hashlib.sha256(name.encode()).digest()
        self.private = sequence(integer(0), sequence(oid("1.3.101.112")), der(4, der(4, secret)))


def pin(key):
    return "sha256/" + base64.b64encode(hashlib.sha256(key.public).digest()).decode()


# Certificates

def name(common):
    organization = sequence(oid("2.5.4.10"), der(12, b"Corpus"))
    return sequence(der(0x31, organization), der(0x31, sequence(oid("2.5.4.3"), der(12, common.encode()))))


def extension(number, value, critical=False):
    return sequence(oid(number), der(1, b"\xff") if critical else b"", der(4, value))


def constraints(permitted):
    return extension("2.5.29.30", sequence(der(0xA0, sequence(der(0x82, permitted.encode())))), True)


def authority(path_length=None, *more):
    """Returns the extensions of an authority."""
    length = [] if path_length is None else [integer(path_length)]
    return [extension("2.5.29.19", sequence(der(1, b"\xff"), *length), True),
            extension("2.5.29.15", der(3, b"\1\x06"), True), *more]


def leaf(*names, purpose="1.3.6.1.5.5.7.3.1", more=()):
    """Returns the extensions of a server's certificate."""
    names = [der(0x87, bytes(map(int, n.split(".")))) if n[0].isdigit() else der(0x82, n.encode()) for n in names]
    return [extension("2.5.29.19", sequence(), True), extension("2.5.29.15", der(3, b"\7\x80"), True),
            extension("2.5.29.37", sequence(oid(purpose))), extension("2.5.29.17", sequence(*names)), *more]


class Certificate:
    """A certificate for `key`, signed by `issuer`, or by itself. Days are counted from NOW."""

    def __init__(self, common, key, issuer=None, extensions=(), days=(-100, 300), signer=None):
        self.common, self.key, self.issuer = common, key, issuer
        signer = signer or (issuer.key if issuer else key)
        identifiers = [extension("2.5.29.14", der(4, self.identifier(key)))]
        if issuer:
            identifiers.append(extension("2.5.29.35", sequence(der(0x80, self.identifier(issuer.key)))))
        first, last = (moment((NOW + DAY * count).replace(hour=0)) for count in days)
        body = sequence(
            der(0xA0, integer(2)), integer(seed(f"{common} {days} {key.public.hex()}") >> 400), signer.algorithm,
            name(issuer.common if issuer else common), sequence(first, last), name(common), key.public,
            der(0xA3, sequence(*extensions, *identifiers)))
        self.der = sequence(body, signer.algorithm, bits(signer.sign(body)))
        self.pem = pem("CERTIFICATE", self.der)

    @staticmethod
    def identifier(key):
        return hashlib.sha1(key.public).digest()


def request(common, key):
    """Returns a certificate request in PEM."""
    body = sequence(integer(0), name(common), key.public, der(0xA0))
    return pem("CERTIFICATE REQUEST", sequence(body, key.algorithm, bits(key.sign(body))))


# Files and servers

CRITICAL = extension("1.3.6.1.4.1.55555.1", der(5), True)
POLICY_REQUIRED = extension("2.5.29.36", sequence(der(0x80, b"\0")), True)


class Kit:
    """Writes the files, and starts the servers with `start`. Cases find pins, certificates and addresses in `variables`."""

    def __init__(self, folder, inputs):
        self.folder, self.variables, self.names, self.chains, self.listeners = folder, {}, {}, {}, []
        self.keys = {n: CurveKey(n) for n in ("root", "issuing", "api", "backup", "other", "foreign", "private", "second")}
        self.keys.update(rsa=RSAKey("rsa"), weak=RSAKey("weak", 1024))
        for name, key in self.keys.items():
            self.variables[name.upper()] = pin(key)
            self.variables[name.upper() + "64"] = pin(key)[7:]
            self.names[pin(key)[7:]] = f"<{name}>"
        self.mint()
        self.write()
        for path in inputs.iterdir():
            (folder / path.name).write_text(string.Template(path.read_text()).safe_substitute(self.variables))
        self.files = {path: path.read_bytes() for path in sorted(folder.iterdir())}

    def mint(self):
        keys, host = self.keys, ("api.example.com", "*.example.com", "example.com", "localhost", "127.0.0.1")
        root = Certificate("Corpus Root", keys["root"], None, authority(), (-2000, 40000))
        issuing = Certificate("Corpus Issuing", keys["issuing"], root, authority(0), (-700, 3000))
        foreign = Certificate("Interceptor Root", keys["foreign"], None, authority(), (-2000, 40000))
        private = Certificate("Private Root", keys["private"], None, authority(), (-2000, 40000))
        old = Certificate("Old Root", keys["private"], None, authority(), (-2000, -10))
        self.authorities = {"root": root, "issuing": issuing, "foreign_root": foreign, "private_root": private, "old": old}

        def chain(name, key, issuer=issuing, extensions=leaf(*host), days=(-30, 335), above=(issuing,), **more):
            common = more.pop("common", "api.example.com")
            self.chains[name] = [Certificate(common, key, issuer, extensions, days, **more), *above]

        chain("good", keys["api"])
        chain("backup", keys["backup"])
        chain("other", keys["other"])
        chain("rsa", keys["rsa"])
        chain("renewed", keys["api"], days=(-1, 364))
        chain("rekeyed", keys["other"], days=(-1, 364))
        second = Certificate("Corpus Second Issuing", keys["second"], root, authority(0), (-700, 3000))
        chain("moved", keys["api"], second, above=(second,), days=(-1, 364))
        chain("ending", keys["api"], days=(-80, 10))
        chain("foreign", keys["other"], foreign, above=())
        chain("appended", keys["other"], foreign, above=(self.chains["good"][0], issuing))
        chain("private", keys["other"], private, above=())
        chain("bare", keys["api"], above=())
        chain("self_signed", keys["other"], None, above=())
        chain("expired", keys["api"], days=(-400, -35))
        chain("future", keys["api"], days=(30, 395))
        chain("wrong_name", keys["api"], extensions=leaf("mail.example.org", "*.mail.example.org"), common="mail.example.org")
        chain("cn_only", keys["api"], extensions=leaf(*host)[:3])
        chain("client", keys["api"], extensions=leaf(*host, purpose="1.3.6.1.5.5.7.3.2"))
        chain("weak", keys["weak"])
        sha1 = Certificate("Corpus SHA-1", RSAKey("sha1", digest="sha1"), root, authority(), (-700, 3000))
        chain("sha1", keys["api"], sha1, above=(sha1,))
        chain("broken", keys["api"], signer=keys["other"])
        chain("not_a_ca", keys["other"], self.chains["good"][0], above=tuple(self.chains["good"]))
        lower = Certificate("Corpus Lower", keys["second"], issuing, authority(), (-700, 3000))
        chain("too_long", keys["api"], lower, above=(lower, issuing))
        bound = Certificate("Corpus Bound", keys["second"], root, authority(None, constraints("example.org")), (-700, 3000))
        chain("constrained", keys["api"], bound, above=(bound,))
        chain("critical", keys["api"], extensions=leaf(*host, more=[CRITICAL]))
        strict = Certificate("Corpus Strict", keys["second"], root, authority(None, POLICY_REQUIRED), (-700, 3000))
        chain("no_policy", keys["api"], strict, above=(strict,))
        chain("several", keys["api"], foreign, leaf("mail.example.org"), (-400, -35), ())

    def write(self):
        def file(name, content):
            (self.folder / name).write_text(content)

        for name, certificate in self.authorities.items():
            file(f"{name}.pem", certificate.pem)
            self.describe(name, certificate)
        file("machine.pem", self.authorities["root"].pem + self.authorities["foreign_root"].pem)
        (self.folder / "root.der").write_bytes(self.authorities["root"].der)
        for name, chain in self.chains.items():
            file(f"{name}.chain", "".join(c.pem for c in chain))
            self.variables[f"chain_{name}"] = json.dumps([c.pem for c in chain])
            self.describe(name, chain[0])
        for name in ("api", "backup", "other", "rsa", "issuing", "weak"):
            file(f"{name}.key", pem("PRIVATE KEY", self.keys[name].private))
            file(f"{name}.pub", pem("PUBLIC KEY", self.keys[name].public))
            file(f"{name}.csr", request(f"{name}.example.com", self.keys[name]))
        for name in ("update", "offline", "stranger"):
            file(f"{name}.key", pem("PRIVATE KEY", EdwardsKey(name).private))
            openssl("pkey", "-in", f"{name}.key", "-pubout", "-out", f"{name}.key.pub", cwd=self.folder)

    def describe(self, name, certificate):
        fingerprint = hashlib.sha256(certificate.der).hexdigest()
        self.variables[f"print_{name}"], self.variables[f"pem_{name}"] = fingerprint.upper(), json.dumps(certificate.pem)
        escaped = json.dumps(certificate.pem)[1:-1]
        # Chains may share a leaf, which has the name of the first.
        self.names = {fingerprint: f"<print of {name}>", certificate.pem: f"<PEM of {name}>\n", escaped: f"<PEM of {name}>",
                      **self.names}

    def check(self):
        """Fails if a case has changed a file of the others."""
        changed = [path.name for path, content in self.files.items() if path.read_bytes() != content]
        if changed:
            sys.exit(f"corpus: a case has changed {', '.join(changed)}")

    # Servers

    def start(self, folder):
        """Starts the servers, whose certificates and keys go into this folder."""
        for name, chain in self.chains.items():
            (folder / "chain").write_text("".join(c.pem for c in chain))
            (folder / "key").write_text(pem("PRIVATE KEY", chain[0].key.private))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
            context.set_ecdh_curve("prime256v1")
            context.load_cert_chain(folder / "chain", folder / "key")
            self.listen(name, lambda client, context=context: handshake(client, context))
        self.listen("plain", lambda client: client.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
        self.listen("alert", lambda client: (client.recv(4096), client.sendall(b"\x15\3\3\0\2\2\x28")))
        self.listen("closing", lambda client: client.recv(4096))
        self.listen("silent", lambda client: (client.recv(4096), client.recv(4096)))
        self.listen("proxy", lambda client: tunnel(client, self.address("good")))
        self.listen("refusing_proxy", lambda client: (client.recv(4096), client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")))
        # Nothing listens here, and no other process can take the port.
        closed = socket.socket()
        closed.bind(("127.0.0.1", 0))
        self.listeners.append(closed)
        self.call("closed", closed)

    def call(self, name, listener):
        port = listener.getsockname()[1]
        self.variables[name] = f"127.0.0.1:{port}"
        self.names.update({f":{port}": f":<{name}>", f": {port}": f": <{name}>"})

    def address(self, name):
        host, port = self.variables[name].split(":")
        return host, int(port)

    def listen(self, name, serve):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.listeners.append(listener)
        self.call(name, listener)

        def answer(client):
            with client:
                client.settimeout(20)
                try:
                    serve(client)
                except OSError:
                    pass

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def stop(self):
        for listener in self.listeners:
            listener.close()


def openssl(*words, cwd):
    subprocess.run(["openssl", *words], cwd=cwd, check=True, capture_output=True)


def handshake(client, context):
    with context.wrap_socket(client, server_side=True) as stream:
        stream.recv(1)


def tunnel(client, address):
    """Answers CONNECT, for any host, with the server at this address."""
    head = b""
    while b"\r\n\r\n" not in head:
        more = client.recv(4096)
        if not more:
            return
        head += more
    with socket.create_connection(address) as server:
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        back = threading.Thread(target=copy, args=(server, client), daemon=True)
        back.start()
        copy(client, server)
        back.join()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
