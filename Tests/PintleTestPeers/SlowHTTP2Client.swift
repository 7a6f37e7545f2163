/// A client of HTTP/2 that reads each response late, sends several requests on a connection, and ends none by itself.
package enum SlowHTTP2Client {
    /// Returns the command line of a client that takes some steps.
    ///
    /// - `connect` opens a connection. The ones before stay open. It prints `refused` if the certificate is wrong.
    /// - `request` sends a request on the newest connection.
    /// - `read` waits half a second, reads the response and what comes in a second after it, and prints it in a line:
    ///   `answered`, `reset CODE`, `goaway STREAM` and `end`.
    /// - `glance` reads no longer than until the response, without waiting.
    /// - `wait` keeps all connections open for ten minutes.
    ///
    /// - Parameter proxy: The port of a proxy on loopback; `nil` to connect to `port` on loopback.
    package static func command(
        _ steps: [String], port: UInt16, anchors: String, host: String = "localhost", proxy: UInt16? = nil
    ) -> [String] {
        ["python3", "-c", script, "\(port)", anchors, host, proxy.map { "\($0)" } ?? ""] + steps
    }

    private static let script = """
        import socket, ssl, sys, time
        port, anchors, host, proxy, *steps = sys.argv[1:]
        connections = []

        def frame(kind, flags=0, stream=0, payload=b""):
            return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

        class Connection:
            def __init__(self):
                self.stream, self.received = -1, b""
                tcp = socket.create_connection(("127.0.0.1", int(proxy or port)))
                if proxy:
                    tcp.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n".encode())
                    head = b""
                    while not head.endswith(b"\\r\\n\\r\\n"): head += tcp.recv(1)
                context = ssl.create_default_context(cafile=anchors)
                context.set_alpn_protocols(["h2"])
                self.tls = context.wrap_socket(tcp, server_hostname=host)
                self.tls.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4))

            def request(self):
                self.stream += 2
                # GET / over https, and the authority.
                self.tls.sendall(frame(1, 5, self.stream, b"\\x82\\x87\\x84\\x41" + bytes([len(host)]) + host.encode()))

            def read(self, delay):
                time.sleep(delay)
                seen, end = [], time.monotonic() + 20
                while True:
                    while len(self.received) >= 9 + int.from_bytes(self.received[:3], "big"):
                        length = 9 + int.from_bytes(self.received[:3], "big")
                        kind, flags, payload = self.received[3], self.received[4], self.received[9:length]
                        self.received = self.received[length:]
                        if kind in (0, 1) and flags & 1: seen.append("answered")
                        if kind == 3: seen.append(f"reset {int.from_bytes(payload, 'big')}")
                        if kind == 7: seen.append(f"goaway {int.from_bytes(payload[:4], 'big')}")
                        if kind in (0, 1, 3, 7): end = min(end, time.monotonic() + 2 * delay)
                    if seen and time.monotonic() >= end: break
                    self.tls.settimeout(max(end - time.monotonic(), 0.001))
                    try: piece = self.tls.recv(65536)
                    except TimeoutError: break
                    except OSError: piece = b""
                    if not piece:
                        seen.append("end")
                        break
                    self.received += piece
                print(*seen, flush=True)

        for step in steps:
            try:
                if step == "connect": connections.append(Connection())
                if step == "request": connections[-1].request()
            except ssl.SSLCertVerificationError: print("refused", flush=True)
            if step == "read": connections[-1].read(0.5)
            if step == "glance": connections[-1].read(0)
            if step == "wait": time.sleep(600)
        """
}
