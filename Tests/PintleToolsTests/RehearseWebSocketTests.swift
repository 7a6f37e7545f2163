import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// Clients whose only request opens a web socket (RFC 6455).
@Suite("Rehearsal: web sockets")
struct RehearseWebSocketTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let python: String? = {
        let folder = getenv("PINTLE_VENV").map { String(cString: $0) } ?? ".build/venv"
        let path = folder + "/bin/python3"
        return (try? runProcess([path, "-c", "import wsproto"]))?.status == 0 ? path : nil
    }()

    /// A client that ends with 0 after an accepted handshake and a close frame with status 1000.
    private static let client = """
        import socket, ssl, sys
        from urllib.parse import urlsplit
        from wsproto import WSConnection, ConnectionType
        from wsproto.events import AcceptConnection, CloseConnection, Request

        url = urlsplit(sys.argv[1])
        context = ssl.create_default_context(cafile=sys.argv[2])
        if len(sys.argv) > 3: context.set_alpn_protocols(sys.argv[3].split(","))
        tls = context.wrap_socket(socket.create_connection(("127.0.0.1", url.port)), server_hostname=url.hostname)
        web = WSConnection(ConnectionType.CLIENT)
        tls.sendall(web.send(Request(host=url.netloc, target="/chat")))
        seen = []
        while not seen or not isinstance(seen[-1], CloseConnection):
            web.receive_data(tls.recv(4096) or None)
            seen += web.events()
        tls.sendall(web.send(seen[-1].response()))
        sys.exit(0 if isinstance(seen[0], AcceptConnection) and seen[-1].code == 1000 else 1)
        """

    @Test(
        "A web socket client passes the control, refuses an expired certificate and loses its request to an interceptor",
        .enabled(if: python != nil, "skipped: no Python with wsproto in $PINTLE_VENV"), arguments: [nil, "http/1.1"])
    func client(protocols: String?) throws {
        let file = try directory.write(Self.client, to: "client.py")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + [
                "--json", "--only", "expired,trusted-interceptor,renewed-same-key", "--",
            ]
                + [try #require(Self.python), file, "{url}", "{ca}"] + (protocols.map { [$0] } ?? []))
        let outcomes = try RehearseTests.outcomes(run)
        #expect(outcomes["control"] == "accepted", "\(run.output) \(run.errors)")
        #expect(outcomes["renewed-same-key"] == "accepted")
        #expect(outcomes["expired"] == "blocked" && outcomes["trusted-interceptor"] == "let-through")
        let control = try #require(try run.json().elements.map(Array.init)).first
        #expect(control?["clientExit"]?.integer == 0)
        #expect(control?["protocol"]?.string == protocols)
    }
}
