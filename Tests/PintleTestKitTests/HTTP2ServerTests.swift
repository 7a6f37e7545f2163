import Glibc
import PintleTestKit
import Testing

/// Real clients of HTTP/2 at a loopback server.
@Suite("Loopback TLS server: HTTP/2")
struct HTTP2ServerTests {
    private let directory: TemporaryDirectory
    private let root: CertificateAuthority
    private let anchors: String

    static let hasNghttp = (try? runProcess(["nghttp", "--version"]))?.status == 0
    /// A Python with the module `h2`, in the virtual environment that the set-up creates.
    static let python: String? = {
        let folder = getenv("PINTLE_VENV").map { String(cString: $0) } ?? ".build/venv"
        let path = folder + "/bin/python3"
        return (try? runProcess([path, "-c", "import h2"]))?.status == 0 ? path : nil
    }()

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root()
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    private func server(
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(
            root.issue(), configure: { $0.applicationProtocols = ["h2", "http/1.1"] }, handler: handler)
    }

    private func curl(_ server: LoopbackTLSServer, _ options: [String] = []) throws -> ProcessResult {
        try runProcess(
            ["curl", "-sS", "--max-time", "30", "--cacert", anchors] + options + [server.url()], timeout: 60)
    }

    @Test(
        "curl chooses the version, and the handler and the record see the same request",
        arguments: [("--http2", "h2", "HTTP/2"), ("--http1.1", "http/1.1", "HTTP/1.1"), ("--no-alpn", nil, "HTTP/1.1")])
    func versions(option: String, name: String?, version: String) throws {
        let server = try server { .text("\($0.version) \($0["host"] ?? "") \($0.target)") }
        let result = try curl(server, [option])
        #expect(result.output == "\(version) localhost:\(server.port) /", "\(result.errorOutput)")
        #expect(server.connections.map(\.applicationProtocol) == [name])
        #expect(server.connections.map(\.requestCount) == [1])
        #expect(server.requests.map(\.method) == ["GET"])
        // The request line or the fields, the authority and the name of the client.
        #expect(20...200 ~= server.requestByteCount)
    }

    @Test("The protocol is recorded also if the client refuses the certificate", arguments: [true, false])
    func refusal(isTrusted: Bool) throws {
        let server = try server()
        let result = try runProcess(
            ["curl", "-sS", "-m", "30", server.url()] + (isTrusted ? ["--cacert", anchors] : []), timeout: 60)
        #expect(result.status == (isTrusted ? 0 : 60))
        #expect(server.waitUntilClosed())
        #expect(server.connections.map(\.applicationProtocol) == ["h2"])
        #expect((server.requestByteCount > 0) == isTrusted)
    }

    @Test("Content passes in both directions, larger than every window")
    func content() throws {
        let server = try server { HTTPResponse(status: 200, body: $0.body + $0.body) }
        let body = String(repeating: "0123456789", count: 100_000)
        let file = try directory.write(body, to: "body")
        let result = try curl(server, ["--http2", "--data-binary", "@\(file)"])
        #expect(result.output == body + body, "\(result.errorOutput)")
        #expect(server.requests.first?.body == Array(body.utf8))
        // A frame has at most 16,384 bytes and a header of nine.
        let overhead = server.requestByteCount - 1_000_000
        #expect(61 * 9..<2_000 ~= overhead, "\(overhead)")
    }

    @Test("Redirects, challenges, HEAD and errors reach the client, and the connection serves many requests")
    func responses() throws {
        let server = try server { request in
            switch request.target {
            case "/redirect": .redirect(to: "/end")
            case "/401": .unauthorized()
            case "/close": .last
            default: .text("end")
            }
        }
        func status(_ path: String, _ options: [String] = []) throws -> String {
            try runProcess(
                [
                    "curl", "-sS", "-m", "30", "--cacert", anchors, "-o", "/dev/null", "-w",
                    "%{http_code} %{num_connects}",
                ]
                    + options + [server.url() + path], timeout: 60
            ).output
        }
        #expect(try status("redirect", ["-L"]) == "200 1")
        #expect(try status("401") == "401 1")
        #expect(try status("", ["-I"]) == "200 1")
        // Two URLs: the second one needs a connection of its own only after the last response of the first.
        #expect(try status("", [server.url(), "-o", "/dev/null"]) == "200 1" + "200 0")
        #expect(try status("", [server.url() + "close", "-o", "/dev/null"]) == "200 1" + "200 1")
        #expect(server.requests.contains { $0.method == "HEAD" })
    }

    @Test("Many requests share a connection")
    func multiplexing() throws {
        let server = try server {
            HTTPResponse(status: 200, body: Array(repeating: 0x78, count: 50_000 + $0.target.count))
        }
        let urls: [String] = (0..<50).flatMap { ["\(server.url())\($0)", "-o", "/dev/null"] }
        let result = try runProcess(
            ["curl", "-sS", "-m", "30", "--cacert", anchors, "-Z", "--parallel-max", "20", "-w", "%{size_download}\n"]
                + urls,
            timeout: 60)
        #expect(result.status == 0, "\(result.errorOutput)")
        let sizes = result.output.split(separator: "\n").compactMap { Int($0) }
        let expected = 2_500_000 + 10 * 2 + 40 * 3
        #expect(sizes.reduce(0, +) == expected)
        #expect(server.requests.count == 50)
        // curl begins with several connections, before it knows that the server speaks HTTP/2.
        #expect(server.connectionCount <= 20)
    }

    @Test("nghttp gets a response, with continuation and padding", .enabled(if: hasNghttp, "skipped: no nghttp"))
    func nghttp() throws {
        let server = try server { .text("\($0["x-long"]?.count ?? 0)") }
        let long = String(repeating: "y", count: 20_000)
        let result = try runProcess(
            ["nghttp", "-n", "-v", "--no-verify-peer", "-b", "100", "-H", "x-long: \(long)", server.url()], timeout: 60)
        #expect(result.status == 0, "\(result.errorOutput)")
        #expect(result.output.contains(":status: 200"), "\(result.output)")
        #expect(server.requests.first?["x-long"]?.count == 20_000)
        let many = try runProcess(
            ["nghttp", "-n", "-s", "--no-verify-peer", "-m", "30", "-w", "5", "-W", "5", server.url()], timeout: 60)
        #expect(many.status == 0 && server.requests.count == 31, "\(many.output) \(many.errorOutput)")
    }

    @Test("The bytes that count are those of the request's frames")
    func byteCount() throws {
        let server = try server()
        // GET https://a/ in HEADERS with END_HEADERS, and DATA with three bytes and END_STREAM.
        let request: [UInt8] =
            [0, 0, 6, 1, 4, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x41, 1, 0x61] + [
                0, 0, 3, 0, 1, 0, 0, 0, 1, 0x78, 0x78, 0x78,
            ]
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let silent = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0] as [UInt8]
        let client = [
            "openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-CAfile", anchors, "-alpn", "h2", "-quiet",
            "-no_ign_eof",
        ]
        _ = try runProcess(client, input: preface + silent)
        #expect(server.waitUntilClosed(connections: 1))
        #expect(server.connections.map(\.isHandshakeComplete) == [true])
        #expect(server.requestByteCount == 0)
        _ = try runProcess(client, input: preface + silent + request + silent)
        #expect(server.waitUntilClosed(connections: 2))
        #expect(server.requestByteCount == request.count)
    }

    @Test(
        "A client that sends no HTTP/2 after ALPN gets GOAWAY, and all its bytes count",
        .enabled(if: python != nil, "skipped: no Python with h2 in $PINTLE_VENV"))
    func garbage() throws {
        let server = try server()
        let script = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[2])
            context.set_alpn_protocols(["h2"])
            with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as stream:
                with context.wrap_socket(stream, server_hostname="localhost") as tls:
                    tls.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
                    received = b""
                    while piece := tls.recv(4096): received += piece
            # SETTINGS with two settings, and GOAWAY with PROTOCOL_ERROR.
            print(received[3], received[24], received[30:38].hex())
            """
        let file = try directory.write(script, to: "client.py")
        let result = try runProcess([try #require(Self.python), file, "\(server.port)", anchors], timeout: 60)
        #expect(result.output == "4 7 0000000000000001\n", "\(result.output) \(result.errorOutput)")
        #expect(server.requestByteCount == 18)
    }
}

extension HTTPResponse {
    /// A response after which the server ends the connection.
    fileprivate static var last: HTTPResponse {
        var response = HTTPResponse.text("last")
        response.closesConnection = true
        return response
    }
}
