import Glibc
import PintleTestKit

/// A client of HTTP/2 in Python that pins keys, with the mistakes that its arguments name.
enum HTTP2Client {
    /// The virtual environment that the set-up creates.
    static let environment = getenv("PINTLE_VENV").map { String(cString: $0) } ?? ".build/venv"

    /// A Python with the modules `h2` and `cryptography`, in the virtual environment.
    static let python: String? = {
        let path = environment + "/bin/python3"
        return (try? runProcess([path, "-c", "import h2, cryptography"]))?.status == 0 ? path : nil
    }()

    /// Its arguments are the URL, the authorities, a comma-separated list of mistakes, and host and pin in turn.
    ///
    /// `coalesces`: uses a connection for every host that its certificate covers. `trustsRetries`: does not compare the
    /// pin when it sends a request again. `http1`: speaks HTTP/1.1. `preconnects`: compares the
    /// pin only on a first connection, without a request and over HTTP/1.1.
    static let script = """
        import base64, hashlib, socket, ssl, sys
        from urllib.parse import urlsplit
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        import h2.connection, h2.events

        url, ca, mistakes, *rest = sys.argv[1:]
        pins = dict(zip(rest[::2], rest[1::2]))
        connections = {}

        class Moved(Exception): pass

        class Connection:
            def __init__(self, host, port, checks, protocol="http/1.1" if "http1" in mistakes else "h2"):
                context = ssl.create_default_context(cafile=ca)
                context.set_alpn_protocols([protocol])
                self.tls = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname=host)
                self.certificate = x509.load_der_x509_certificate(self.tls.getpeercert(True))
                key = self.certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
                pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
                if checks and pins.get(host, pin) != pin: sys.exit("the key has another pin")
                self.h2 = h2.connection.H2Connection()
                if self.tls.selected_alpn_protocol() == "h2": self.h2.initiate_connection()

            def covers(self, host):
                names = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
                return host in [str(name.value) for name in names]

            def get(self, url):
                if self.tls.selected_alpn_protocol() != "h2":
                    self.tls.sendall(f"GET / HTTP/1.1\\r\\nHost: {url.netloc}\\r\\n\\r\\n".encode())
                    head = self.tls.recv(65536).decode().split("\\r\\n")
                    return dict([(":status", head[0].split()[1])] + [l.lower().split(": ") for l in head if ": " in l])
                stream = self.h2.get_next_available_stream_id()
                fields = [(":method", "GET"), (":scheme", "https"), (":authority", url.netloc), (":path", url.path)]
                self.h2.send_headers(stream, fields, end_stream=True)
                self.tls.sendall(self.h2.data_to_send())
                result = None
                while True:
                    data = self.tls.recv(65536)
                    if not data: raise Moved()
                    for event in self.h2.receive_data(data):
                        if isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)) and not result:
                            raise Moved()
                        if isinstance(event, h2.events.ResponseReceived):
                            result = {name.decode(): value.decode() for name, value in event.headers}
                        if isinstance(event, h2.events.StreamEnded): return result
                    self.tls.sendall(self.h2.data_to_send())

        def get(text, checks=True, again=False):
            url = urlsplit(text)
            open = [c for c in connections.values() if c.covers(url.hostname)] if "coalesces" in mistakes else []
            connection = open[0] if open else Connection(url.hostname, url.port, checks)
            connections[url.hostname] = connection
            try:
                return connection.get(url)
            except Moved:
                connections.clear()
                if again: sys.exit("moved twice")
                return get(text, checks and "trustsRetries" not in mistakes, again=True)

        if "preconnects" in mistakes: Connection(urlsplit(url).hostname, urlsplit(url).port, True, "http/1.1")
        answer = get(url, "preconnects" not in mistakes)
        if "location" in answer: answer = get(answer["location"])
        print(answer[":status"])
        """
}
