package import PintleTestKit
internal import Synchronization

extension Scenario {
    /// Starts the servers, each on a free port.
    package func start() throws -> Server { try Server(self) }
}

/// The servers of one scenario. They stop when this object is closed or its last reference is released. Threads may
/// share it.
package final class Server: Sendable {
    package let scenario: Scenario
    /// The port in the URLs of the client if it comes through a proxy; `nil` for the port of each server.
    private let clientPort: UInt16?
    private let first: LoopbackTLSServer
    /// The place of the attack, if that is a server of its own.
    private let second: LoopbackTLSServer?
    /// The place of the attack, if that is a server without TLS.
    private let plain: (server: LoopbackTCPServer, tally: ByteTally)?
    /// The host of the attack, at ``second`` or on other connections to ``first``.
    private let otherHost: String?
    /// Returns the role of a connection to the first server.
    private let role: @Sendable (TLSConnectionRecord) -> Connection.Role

    /// One connection to a server of a scenario: all of it at its end, or over HTTP/2 the part until a response.
    package struct Connection: Sendable {
        package enum Role: Sendable {
            /// The connection reached a server that only leads to the attack.
            case leading
            /// The client went on to the place of the attack, and met no attack there.
            case following
            /// The connection reached the attack.
            case attack
        }

        /// `nil` for plain HTTP.
        package let record: TLSConnectionRecord?
        package let requestByteCount: Int
        package let role: Role

        package init(record: TLSConnectionRecord, role: Role) {
            self.record = record
            // Anyone can read unencrypted bytes.
            self.role = record.clearByteCount > 0 ? .attack : role
            let misdirected = record.misdirectedByteCount
            requestByteCount = (misdirected > 0 ? misdirected : record.requestByteCount) + record.clearByteCount
        }

        package init(plainByteCount: Int) {
            record = nil
            role = .attack
            requestByteCount = plainByteCount
        }

        /// The number of the request bytes that came without TLS.
        package var clearByteCount: Int { record?.clearByteCount ?? requestByteCount }
    }

    /// - Parameters:
    ///   - scenario: the scenario.
    ///   - address: the address to listen at instead of loopback.
    ///   - timeLimit: the time limit of each connection in seconds, if not that of `address`.
    ///   - clientPort: the HTTPS port in the URLs of a client that comes through a proxy, which needs ``routes``. Plain
    ///     HTTP has port 80 then. `nil` for a client that connects to the servers itself.
    ///   - keepsTranscripts: `true` to keep the first bytes of each connection for ``transcripts()``.
    ///   - isReplaced: returns `true` if the client's next connection meets another scenario. A response over HTTP/2
    ///     then comes with GOAWAY.
    ///   - observer: gets each ended connection to any of the servers, and what an HTTP/2 connection has brought with
    ///     each response. With an observer the servers keep no records, and ``observation()`` is empty.
    package init(
        _ scenario: Scenario, listeningAt address: String? = nil, timeLimit: Double? = nil, clientPort: UInt16? = nil,
        keepsTranscripts: Bool = false, isReplaced: @escaping @Sendable () -> Bool = { false },
        observer: (@Sendable (Connection) -> Void)? = nil
    ) throws {
        self.scenario = scenario
        self.clientPort = clientPort
        let timeLimit = timeLimit ?? Server.timeLimit(at: address)
        func start(
            _ configuration: TLSServerConfiguration,
            role: @escaping @Sendable (TLSConnectionRecord) -> Connection.Role = { _ in .attack },
            behavior: ServerBehavior = .ok,
            application: (@Sendable (any ByteStream) -> Void)? = nil
        ) throws -> LoopbackTLSServer {
            var configuration = configuration
            let offered = application == nil ? scenario.offered : .http1
            configuration.applicationProtocols = offered.names(for: configuration)
            configuration.address = address
            configuration.allowsResumption = false
            configuration.transcriptLimit = keepsTranscripts ? Transcript.limit : 0
            configuration.timeLimit = timeLimit
            if let observer {
                configuration.connectionObserver = { observer(Connection(record: $0, role: role($0))) }
            }
            configuration.application = .stream(
                application ?? { behavior.serve($0, isReplaced: isReplaced) })
            return try LoopbackTLSServer(configuration)
        }
        /// Returns the configuration of the right server, which may ask for the client's certificate.
        func rightServer(_ credential: TLSServerConfiguration.Credential) -> TLSServerConfiguration {
            var configuration = TLSServerConfiguration(credential)
            configuration.clientCertificateQuestion = scenario.question
            return configuration
        }
        var second: LoopbackTLSServer?
        var plain: (server: LoopbackTCPServer, tally: ByteTally)?
        var otherHost: String?
        switch scenario.setup {
        case .server(var configuration):
            if scenario.expectation == .accepted { configuration.clientCertificateQuestion = scenario.question }
            role = { _ in .attack }
            first = try start(configuration)
        case .application(let credential, let application):
            role = { _ in .attack }
            first = try start(rightServer(credential), application: application)
        case .redirect(let credential, let other, let target):
            let server = try start(TLSServerConfiguration(target))
            let location = Server.url(other, clientPort ?? server.port)
            (second, otherHost, role) = (server, other, { _ in .leading })
            first = try start(
                rightServer(credential), role: role, behavior: .answers { _ in .redirect(to: location) })
        case .plainRedirect(let credential):
            let tally = ByteTally(keeping: keepsTranscripts ? Transcript.limit : 0)
            let server = try LoopbackTCPServer(listeningAt: address, timeLimit: timeLimit) { connection in
                let stream = TalliedStream(connection, tally)
                HTTPService(handler: { _ in .ok }).serveOnce(stream)
                observer?(Connection(plainByteCount: stream.count))
            }
            let port = clientPort == nil ? server.port : 80
            let location = "http://\(Proxy.authority(scenario.host, port, standard: 80))/"
            (plain, role) = ((server, tally), { _ in .leading })
            first = try start(
                rightServer(credential), role: role, behavior: .answers { _ in .redirect(to: location) })
        case .challenge(let credential, let interceptor):
            let later = CredentialSwitch(to: interceptor)
            role = { $0.credentialNumber > 0 ? .attack : .leading }
            first = try start(
                rightServer(credential), role: role,
                behavior: .answers { _ in
                    later.turn()
                    var response = HTTPResponse.unauthorized()
                    response.closesConnection = true
                    return response
                })
            later.connect(to: first)
        case .move(let signal, let credential, let interceptor):
            let later = CredentialSwitch(to: interceptor)
            role = { $0.credentialNumber > 0 ? .attack : .leading }
            first = try start(
                rightServer(credential), role: role, behavior: .moves(signal) { later.turn() })
            later.connect(to: first)
        case .coalescing(let credential, let other, let right):
            let later = CredentialSwitch(to: right)
            let hosts = HostPair(first: scenario.host, other: other)
            otherHost = other
            role = { $0.misdirectedByteCount > 0 ? .attack : hosts.isOfFirst($0) ? .leading : .following }
            var configuration = rightServer(credential)
            configuration.credentialsByServerName = [hosts.first.lowercased(): credential, other.lowercased(): right]
            first = try start(
                configuration, role: role,
                behavior: .shares(hosts) {
                    later.turn()
                    return .redirect(to: Server.url(other, clientPort ?? later.port))
                })
            later.connect(to: first)
        }
        (self.second, self.plain, self.otherHost) = (second, plain, otherHost)
    }

    deinit { close() }

    /// Returns the time limit of a connection in seconds, so that idle connections do not block further ones for good.
    /// It is short if other machines can reach the server. On this machine a client may wait in a debugger.
    package static func timeLimit(at address: String?) -> Double { address == nil ? 300 : 10 }

    /// The port of the server that the client is sent to.
    package var port: UInt16 { first.port }

    /// The URL of the first server, such as `https://localhost:49152/`.
    package var url: String { Server.url(scenario.host, clientPort ?? port) }

    /// The servers by the names and ports in the URLs of a client that comes through a proxy.
    var routes: [Proxy.Route] {
        let tls = clientPort ?? 443
        var routes = [Proxy.Route(host: scenario.host, port: tls, server: first.port)]
        if let otherHost { routes.append(Proxy.Route(host: otherHost, port: tls, server: (second ?? first).port)) }
        if let plain { routes.append(Proxy.Route(host: scenario.host, port: 80, server: plain.server.port)) }
        return routes
    }

    private static func url(_ host: String, _ port: UInt16) -> String {
        "https://\(Proxy.authority(host, port, standard: 443))/"
    }

    /// Returns the connections and bytes that the servers have received until now.
    package func observation() -> Observation {
        var observation = Observation()
        for record in first.connections { observation.add(Connection(record: record, role: role(record))) }
        for record in second?.connections ?? [] { observation.add(Connection(record: record, role: .attack)) }
        if let plain, plain.server.connectionCount > 0 {
            observation.add(Connection(plainByteCount: plain.tally.total))
        }
        return observation
    }

    /// A Boolean value that indicates whether every connection has brought a request.
    var hasOnlyRequests: Bool { observation().unansweredCount == 0 }

    /// A Boolean value that indicates whether a client has connected.
    var hasConnections: Bool { first.connectionCount > 0 }

    /// A Boolean value that indicates whether there were connections, and each has ended or got a response to every
    /// request. If there was no request, the client ended them.
    var hasAnsweredAll: Bool {
        let connections = first.connections + (second?.connections ?? [])
        if let plain, !plain.server.waitUntilIdle(seconds: 0) { return false }
        return !connections.isEmpty && connections.allSatisfy { $0.isClosed || $0.isAnswered }
    }

    /// Returns what the connections brought: those to the first server, then those to the place that it redirected the
    /// client to. Plain HTTP connections there are one transcript.
    package func transcripts() -> [Transcript] {
        var transcripts = (first.connections + (second?.connections ?? [])).map {
            Transcript(record: $0, received: $0.received)
        }
        if let tally = plain?.tally, tally.total > 0 {
            transcripts.append(Transcript(record: nil, received: tally.received))
        }
        return transcripts
    }

    /// Waits until every connection has ended, also those still queued, and the servers have read all their bytes.
    /// Later connections are not waited for.
    /// - Parameter seconds: The time for each server.
    /// - Returns: `false` if a connection is still open after that time, unless the servers have answered all its
    ///   requests.
    @discardableResult
    package func waitUntilAnswered(seconds: Double = 2) -> Bool {
        // The client can have connected before the server accepts the connection.
        _ = first.wait(seconds: 0.2) { !$0.isEmpty }
        if waitUntilIdle(seconds: seconds) { return true }
        guard second?.isAnswered ?? true, plain?.server.waitUntilIdle(seconds: 0) ?? true else { return false }
        return first.isAnswered
    }

    /// Waits until no connection is queued or open.
    ///
    /// - Parameter seconds: The time for each server.
    /// - Returns: `false` if a connection is still open after that time.
    package func waitUntilIdle(seconds: Double) -> Bool {
        let isFirstIdle = first.waitUntilIdle(seconds: seconds)
        let isSecondIdle = second?.waitUntilIdle(seconds: seconds) ?? true
        return plain?.server.waitUntilIdle(seconds: seconds) ?? true && isFirstIdle && isSecondIdle
    }

    /// Ends all connections and waits for their threads.
    package func close() {
        first.close()
        second?.close()
        plain?.server.close()
    }
}

/// A counter of bytes received without TLS, which keeps the first of them.
final class ByteTally: Sendable {
    private let bytes = Atomic(0)
    private let kept = Mutex<[UInt8]>([])
    private let limit: Int

    init(keeping limit: Int) {
        self.limit = limit
    }

    var total: Int { bytes.load(ordering: .relaxed) }

    var received: [UInt8] { kept.withLock(\.self) }

    func add(_ more: [UInt8]) {
        bytes.add(more.count, ordering: .relaxed)
        kept.withLock { $0 += more.prefix(limit - $0.count) }
    }
}

/// A connection that counts the bytes from the client.
final class TalliedStream: ByteStream {
    private let stream: TCPConnection
    private let tally: ByteTally
    private(set) var count = 0

    init(_ stream: TCPConnection, _ tally: ByteTally) {
        self.stream = stream
        self.tally = tally
    }

    func read(upTo limit: Int) throws(StreamError) -> [UInt8] {
        let bytes = try stream.read(upTo: limit)
        count += bytes.count
        tally.add(bytes)
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(StreamError) { try stream.write(bytes) }
}

/// The switch of a server to another credential for the connections after its first response. The server owns the
/// switch, so the switch does not own the server.
private final class CredentialSwitch: Sendable {
    private struct State {
        weak var server: LoopbackTLSServer?
        var isTurned = false
    }

    private let state = Mutex(State())
    private let credential: TLSServerConfiguration.Credential

    init(to credential: TLSServerConfiguration.Credential) {
        self.credential = credential
    }

    func connect(to server: LoopbackTLSServer) { state.withLock { $0.server = server } }

    /// The port of the server.
    var port: UInt16 { state.withLock { $0.server }?.port ?? 0 }

    /// Presents the credential from the next connection on. The first call does it, others are no-ops.
    func turn() {
        let server = state.withLock { $0.server }
        state.withLock { state in
            guard !state.isTurned, let server, (try? server.replaceCredential(credential)) != nil else { return }
            state.isTurned = true
        }
    }
}
