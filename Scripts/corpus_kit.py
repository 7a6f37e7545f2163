"""Inputs of the cases of corpus.py: files, servers on loopback, and the names by which cases call them."""
import hashlib, json, socket, ssl, string, subprocess, sys, threading

from corpus_certificates import (
    CurveKey, RSAKey, EdwardsKey, Certificate, authority, constraints, extension, leaf, oid, pem, pin, request, sequence, der)

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
