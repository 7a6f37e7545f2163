import CCurl
import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import Synchronization
import Testing

@testable import PintleStorage
@testable import PintleURLSession

extension HostilePeers {
    /// libcurl chooses the address, the connection and the number of connections for a request.
    @Suite("Hostile peers: the choice of a connection")
    struct LibraryConnections {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// The peer at one of the addresses of a name.
        enum Peer: String, CustomTestStringConvertible {
            case honest
            /// A server for the same name with another key.
            case foreign
            /// It accepts connections and says nothing.
            case silent
            case closed
            /// It does not answer SYN, so that libcurl tries the next address while it waits (RFC 8305).
            case unreachable

            var testDescription: String { rawValue }
        }

        /// The peers at `[::1]`, which libcurl tries first, and at 127.0.0.1, with the end of a request.
        static let addresses: [(first: Peer, second: Peer, end: String)] = [
            (.honest, .foreign, "ok"), (.closed, .honest, "ok"), (.unreachable, .honest, "ok"),
            (.foreign, .honest, "pin-mismatch"), (.closed, .foreign, "pin-mismatch"),
            (.unreachable, .foreign, "pin-mismatch"), (.silent, .honest, "time-out"),
        ]

        /// Starts both peers at one port, which is free at 127.0.0.1 and may be taken at `[::1]`.
        private func start(_ first: Peer, _ second: Peer) throws -> (first: AnyObject?, second: LoopbackTLSServer) {
            func identity(_ peer: Peer) throws -> Identity {
                peer == .honest ? fixture.identity : try fixture.root.issue()
            }
            let server = try LoopbackTLSServer(try identity(second))
            let port = server.port
            switch first {
            case .closed: return (nil, server)
            case .unreachable: return (try FullListener(port: port), server)
            case .silent:
                return (try LoopbackTCPServer(listeningAt: "::1", port: port) { $0.stall(seconds: 10) }, server)
            case .honest, .foreign:
                return (try LoopbackTLSServer(try identity(first)) { ($0.ipv6, $0.port) = (true, port) }, server)
            }
        }

        @Test("A verdict is about the address that gets the request", arguments: addresses)
        func eyeballs(_ peers: (first: Peer, second: Peer, end: String)) async throws {
            var started: (first: AnyObject?, second: LoopbackTLSServer)?
            for _ in 0..<5 where started == nil { started = try? start(peers.first, peers.second) }
            let (first, second) = try #require(started)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = peers.end == "time-out" ? 1 : 60
            let session = PinnedURLSession(
                source: LivePolicy(try fixture.policy()), configuration: configuration, delegate: nil,
                delegateQueue: nil, options: .init(addresses: StringList(["localhost:\(second.port):[::1],127.0.0.1"])))
            let other = first as? LoopbackTLSServer
            if peers.end == "ok" {
                let response = try await session.data(from: try second.address()).1
                #expect(response.trustReceipt?.matchedPin != nil)
                #expect(other?.requests.count ?? 0 == (peers.first == .honest ? 1 : 0))
                #expect(second.requests.count == (peers.first == .honest ? 0 : 1))
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(from: try second.address()) }
                let reason = error.flatMap { TrustRejection(underlying: $0) }?.reason
                #expect(peers.end == "time-out" ? error?.code == .timedOut && reason == nil : reason == peers.end)
                #expect(second.requestByteCount == 0 && other?.requestByteCount ?? 0 == 0)
            }
            withExtendedLifetime(first) {}
        }

        @Test(
            "Requests beyond a server's limit of streams get a connection with a verdict",
            arguments: [1, 100] as [UInt8])
        func streamLimit(limit: UInt8) async throws {
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.maximumConnections = 128
                configuration.application = .stream { stream in
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                    // SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113 section 6.5.2).
                    try? stream.write(Frame.frame(4, stream: 0, [0, 3, 0, 0, 0, limit]))
                    while let number = Frame.readNextRequest(stream) {
                        usleep(20_000)
                        try? stream.write(Frame.empty(stream: number))
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            let url = try server.address()
            _ = try await session.data(from: url)
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        do {
                            return try await session.data(from: url).1.trustReceipt == nil ? "no receipt" : nil
                        } catch { return "\(error)" }
                    }
                }
                for await failure in group { #expect(failure == nil) }
            }
            // One more than the limit: the connection that others share does not count.
            #expect(server.connectionCount <= 7)
        }

        /// How a server holds the second request back.
        enum Restraint: String, CaseIterable, CustomTestStringConvertible {
            /// It allows no streams, so that nghttp2 keeps the request.
            case limit
            /// It gets the request and does not answer.
            case silence

            var testDescription: String { rawValue }
        }

        /// libcurl before 8.6 writes to the memory of a handle that it has freed, if nghttp2 kept its request. The next
        /// handle may have got that memory: its transfer then ended with an error, whatever its server was.
        @Test("A request that a server holds back does not end one to another server", arguments: Restraint.allCases)
        func heldBack(_ restraint: Restraint) async throws {
            let (isWaiting, isAllowed, isReleased) =
                (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let streams = Mutex<[UInt8]>([])
            let holding = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface,
                        let first = Frame.readNextRequest(stream)
                    else { return }
                    let limit = Frame.settings(streams: restraint == .limit ? 0 : 100)
                    try? stream.write(limit + Frame.empty(stream: first))
                    if restraint == .silence { _ = Frame.readNextRequest(stream) }
                    isAllowed.wait()
                    try? stream.write(Frame.settings(streams: 100))
                    while let number = Frame.readNextRequest(stream) {
                        streams.withLock { $0.append(number) }
                        try? stream.write(Frame.empty(stream: number))
                    }
                }
            }
            let other = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                    try? stream.write(Frame.settings)
                    guard let number = Frame.readNextRequest(stream) else { return }
                    isWaiting.signal()
                    isReleased.wait()
                    try? stream.write(Frame.empty(stream: number))
                    _ = Frame.readNextRequest(stream)
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            let (url, otherURL) = (try holding.address(), try other.address())
            _ = try await session.data(from: url)
            for _ in 0..<3 {
                var request = URLRequest(url: url)
                request.timeoutInterval = 0.2
                let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
                #expect(error?.code == .timedOut)
            }
            async let slow = session.data(from: otherURL)
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    isWaiting.wait()
                    isAllowed.signal()
                    continuation.resume()
                }
            }
            // The first reads the new limit, the second comes after it.
            for _ in 0..<2 { _ = try await session.data(from: url) }
            isReleased.signal()
            #expect(try await slow.1.trustReceipt != nil)
            #expect(holding.connectionCount == 1 && other.connectionCount == 1)
            // A request that has timed out is never sent.
            #expect(streams.withLock { $0.count } == (restraint == .limit ? 2 : 4))
        }

        @Test(
            "A connection over which a server holds four requests back gets no further one",
            .enabled(if: CurlLibrary.remembersHandles))
        func heldBackForever() async throws {
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                    while let number = Frame.readNextRequest(stream) {
                        try? stream.write(Frame.settings(streams: 0) + Frame.empty(stream: number))
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            let url = try server.address()
            _ = try await session.data(from: url)
            for _ in 0..<4 {
                var request = URLRequest(url: url)
                request.timeoutInterval = 0.2
                let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
                #expect(error?.code == .timedOut)
            }
            #expect(server.connectionCount == 1)
            #expect(try await session.data(from: url).1.trustReceipt != nil)
            #expect(server.connectionCount == 2)
        }

        static let fields = [
            "X-Control: 1", #"Alt-Svc: h2=":PORT"; ma=3600"#, #"Alt-Svc: h2="localhost:PORT"; ma=3600; persist=1"#,
            #"Alt-Svc: http%2F1.1="localhost:PORT"; ma=3600"#, #"Alt-Svc: h3=":PORT"; ma=3600"#,
            "Strict-Transport-Security: max-age=31536000; includeSubDomains", "Refresh: 0; url=https://localhost:PORT/",
            "Location: https://localhost:PORT/", "Content-Location: https://localhost:PORT/",
            "Link: <https://localhost:PORT/>; rel=preload", "Upgrade: h2, h2c\r\nConnection: Upgrade",
            "WWW-Authenticate: Negotiate\r\nProxy-Authenticate: Basic realm=r\r\nPersistent-Auth: true",
        ]

        @Test("No field of a response sends a later request elsewhere or in another form", arguments: fields)
        func advice(_ field: String) async throws {
            let elsewhere = try LoopbackTCPServer { $0.stall(seconds: 1) }
            let plain = try LoopbackTCPServer.http()
            let lines = field.replacingOccurrences(of: "PORT", with: "\(elsewhere.port)")
            let heads = Mutex<[String]>([])
            let server = try fixture.server(stream: { stream in
                while let head = try? stream.read(upTo: 4_096), !head.isEmpty {
                    heads.withLock { $0.append(String(decoding: head, as: UTF8.self)) }
                    try? stream.write(Array("HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: 2\r\n\r\nok".utf8))
                }
            })
            let session = URLSession.pinned(
                to: try fixture.policy(),
                options: .init(addresses: StringList(["sub.localhost:\(plain.port):127.0.0.1"])))
            for _ in 0..<2 { #expect(try await session.data(from: try server.address()).0 == Data("ok".utf8)) }
            #expect(heads.withLock { $0.count == 2 && $0.first == $0.last } && elsewhere.connectionCount == 0)
            // The policy covers no sub-domain. libcurl could use `includeSubDomains` on it.
            let other = try #require(URL(string: "http://sub.localhost:\(plain.port)/"))
            #expect(try await session.data(from: other).0.count == 3 && plain.connectionCount == 1)
        }

        @Test("libcurl requests the parsed URL again and again, whatever the text beside it names")
        func text() async throws {
            let elsewhere = try LoopbackTCPServer.http()
            // Each connection carries one request. libcurl repeats the next one with the text of its URL.
            let server = try LoopbackTCPServer { connection in
                _ = try? connection.read(upTo: 4_096)
                try? connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                _ = try? connection.read(upTo: 4_096)
            }
            let url = try CurlURL("http://127.0.0.1:\(server.port)/")
            for _ in 0..<2 {
                let handle = try #require(curl_easy_init())
                defer { curl_easy_cleanup(handle) }
                pintle_curl_set_pointer(handle, CURLOPT_URL, "http://127.0.0.1:\(elsewhere.port)/")
                pintle_curl_set_pointer(handle, CURLOPT_PROXY, "")
                pintle_curl_set_url(handle, url.handle)
                for _ in 0..<2 { #expect(curl_easy_perform(handle) == CURLE_OK) }
            }
            #expect(server.connectionCount == 4 && elsewhere.connectionCount == 0)
        }

        @Test(
            "A connection whose name an approval excuses carries no request after the approval",
            arguments: [0.0, 7_200])
        func otherName(seconds: Double) async throws {
            let identity = try Identity.selfSigned(hosts: ["router.test"])
            let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
            let leaf = try Certificate(der: identity.certificate.der)
            let store = TrustApprovalStore()
            try store.approve(
                TrustApproval(
                    .certificate(leaf.fingerprint),
                    for: ServerEndpoint(host: try ServerName("localhost"), port: server.port),
                    accepting: [.selfSigned, .nameMismatch], at: Date(), until: Date() + 3_600))
            let later = Mutex(0.0)
            let session = URLSession.pinned(
                to: ApprovedPolicy(
                    LivePolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser)), approvals: store),
                options: .init(now: { Date() + later.withLock { $0 } }))
            let url = try server.address()
            #expect(try await session.data(from: url).1.trustReceipt?.basis.reason == "user-approved")
            later.withLock { $0 = seconds }
            if seconds == 0 {
                _ = try await session.data(from: url)
                #expect(server.requests.count == 2 && server.connectionCount == 1)
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                // libcurl makes another connection, and checks the name itself.
                #expect(error?.code == .secureConnectionFailed && server.requests.count == 1)
            }
        }

        @Test("A frame with advice moves no request to another connection", arguments: ["none", "ALTSVC", "ORIGIN"])
        func adviceInFrames(name: String) async throws {
            let elsewhere = try LoopbackTCPServer { $0.stall(seconds: 1) }
            let own = Mutex<UInt16>(0)
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    let port = own.withLock { $0 }
                    func sized(_ text: String) -> [UInt8] {
                        [0, UInt8(truncatingIfNeeded: text.utf8.count)] + Array(text.utf8)
                    }
                    let advice =
                        switch name {
                        // RFC 7838 section 4 and RFC 8336 section 2.
                        case "ALTSVC":
                            Frame.frame(
                                10, stream: 0,
                                sized("https://localhost:\(port)") + Array("h2=\":\(elsewhere.port)\"; ma=60".utf8))
                        case "ORIGIN": Frame.frame(12, stream: 0, sized("https://127.0.0.1:\(port)"))
                        default: [UInt8]()
                        }
                    try? stream.write(advice + Frame.empty(stream: 1))
                    while let number = Frame.readNextRequest(stream) { try? stream.write(Frame.empty(stream: number)) }
                }
            }
            own.withLock { $0 = server.port }
            let session = URLSession.pinned(to: try fixture.policy(["localhost", "127.0.0.1"]))
            for host in ["localhost", "localhost", "127.0.0.1", "localhost"] {
                let response = try await session.data(from: try server.address(host: host)).1
                #expect(response.trustReceipt?.endpoint.host.description == host)
            }
            #expect(server.completedHandshakeCount == 2 && elsewhere.connectionCount == 0)
        }

        @Test("A 421 is the response, and the request is not sent again", arguments: [["h2"], []])
        func misdirected(protocols: [String]) async throws {
            let server = try LoopbackTLSServer(
                fixture.identity, configure: { $0.applicationProtocols = protocols },
                handler: { $0.method == "PUT" ? HTTPResponse(status: 421, reason: "Misdirected Request") : .ok })
            let session = URLSession.pinned(to: try fixture.policy())
            for (method, status) in [("PUT", 421), ("POST", 200)] {
                var request = URLRequest(url: try server.address())
                (request.httpMethod, request.httpBody) = (method, Data("x".utf8))
                let response = try await session.data(for: request).1 as? HTTPURLResponse
                #expect(response?.statusCode == status)
            }
            #expect(server.requests.map(\.method) == ["PUT", "POST"] && server.connectionCount == 1)
        }

        /// The time in milliseconds between a response and the GOAWAY behind it, and the last stream that the server
        /// will answer.
        static let departures: [(delay: UInt32, last: UInt8)] = [(0, 1), (50, 1), (0, 0), (50, 0), (0, 127), (50, 127)]

        @Test(
            "A request after GOAWAY is answered, on another connection if the server refuses it", arguments: departures)
        func goAway(_ departure: (delay: UInt32, last: UInt8)) async throws {
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    if departure.delay == 0 {
                        try? stream.write(Frame.empty(stream: 1) + Frame.goAway(last: departure.last))
                    } else {
                        try? stream.write(Frame.empty(stream: 1))
                        usleep(departure.delay * 1_000)
                        try? stream.write(Frame.goAway(last: departure.last))
                    }
                    while let number = Frame.readNextRequest(stream) {
                        if number <= departure.last { try? stream.write(Frame.empty(stream: number)) }
                    }
                }
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 10
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            for _ in 0..<3 {
                #expect((try await session.data(from: try server.address()).1 as? HTTPURLResponse)?.statusCode == 200)
                // The GOAWAY has come by the time of the next request.
                try await Task.sleep(for: .milliseconds(200))
            }
            if departure.last < 3 { #expect(server.completedHandshakeCount == 3) }
        }
    }
}

/// A port of `[::1]` whose queue is full, so that Linux answers no further SYN.
private final class FullListener {
    private var sockets: [CInt] = []

    init(port: UInt16) throws {
        var address = sockaddr_in6()
        (address.sin6_family, address.sin6_port, address.sin6_addr) = (
            sa_family_t(AF_INET6), port.bigEndian, in6addr_loopback
        )
        let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let listener = open()
                try #require(bind(listener, address, size) == 0 && listen(listener, 0) == 0)
                for _ in 0..<3 { _ = connect(open(), address, size) }
            }
        }
    }

    private func open() -> CInt {
        let number = socket(AF_INET6, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        sockets.append(number)
        return number
    }

    deinit {
        for socket in sockets { close(socket) }
    }
}
