internal import Synchronization

/// The servers of one attack. They stop when this object is closed or its last reference is released. Threads may share it.
package final class AttackServer: Sendable {
    /// The attack.
    package let attack: Attack
    /// The port in the URLs of the client if it comes through a proxy; `nil` for the port of each server.
    private let clientPort: UInt16?
    private let first: LoopbackTLSServer
    private let elsewhere: Elsewhere

    /// The place of the attack, if that is not the first server.
    private enum Elsewhere: Sendable {
        case nowhere
        case tls(LoopbackTLSServer)
        case plain(LoopbackTCPServer, ByteTally)
        /// At the first server, on later connections.
        case later(LaterConnections)
        /// At the first server, on connections for another host.
        case shared(LaterConnections, AttackHosts)
    }

    /// - Parameters:
    ///   - attack: the attack.
    ///   - address: the address to listen at instead of loopback.
    ///   - timeLimit: the time limit of each connection in seconds, if not that of `address`.
    ///   - clientPort: the HTTPS port in the URLs of a client that comes through a proxy, which needs ``routes``. Plain HTTP
    ///     has port 80 then. `nil` for a client that connects to the servers itself.
    ///   - keepsTranscripts: `true` to keep the first bytes of each connection for ``transcripts()``.
    ///   - isReplaced: returns `true` if the client's next connection meets another attack. A response over HTTP/2 then comes
    ///     with GOAWAY.
    ///   - observer: gets each ended connection to any of the servers, and what an HTTP/2 connection has brought with each
    ///     response. With an observer the servers keep no records, and ``observation()`` is empty.
    package init(
        _ attack: Attack, listeningAt address: String? = nil, timeLimit: Double? = nil, clientPort: UInt16? = nil,
        keepsTranscripts: Bool = false, isReplaced: @escaping @Sendable () -> Bool = { false },
        observer: (@Sendable (AttackConnection) -> Void)? = nil
    ) throws {
        self.attack = attack
        self.clientPort = clientPort
        let timeLimit = timeLimit ?? AttackServer.timeLimit(at: address)
        func start(
            _ configuration: TLSServerConfiguration,
            isAttack: @escaping @Sendable (TLSConnectionRecord) -> Bool = { _ in true },
            service: AttackService = .ok,
            application: (@Sendable (any ByteStream) -> Void)? = nil
        ) throws -> LoopbackTLSServer {
            var configuration = configuration
            let offered = application == nil ? attack.offered : .http1
            configuration.applicationProtocols = offered.names(for: configuration)
            configuration.address = address
            configuration.allowsResumption = false
            configuration.transcriptLimit = keepsTranscripts ? AttackTranscript.limit : 0
            configuration.timeLimit = timeLimit
            if let observer {
                configuration.connectionObserver = { observer(.init(record: $0, isAttack: isAttack($0))) }
            }
            var service = service
            service.isReplaced = isReplaced
            configuration.application = .stream(application ?? { [service] in service.serve($0) })
            return try LoopbackTLSServer(configuration)
        }
        switch attack.staging {
        case .server(let configuration):
            elsewhere = .nowhere
            first = try start(configuration)
        case .application(let credential, let application):
            elsewhere = .nowhere
            first = try start(TLSServerConfiguration(credential), application: application)
        case .redirect(let credential, let other, let target):
            let server = try start(TLSServerConfiguration(target))
            let location = AttackServer.url(other, clientPort ?? server.port)
            elsewhere = .tls(server)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { _ in false },
                service: .answering { .redirect(to: location) })
        case .plainRedirect(let credential):
            let tally = ByteTally(keeping: keepsTranscripts ? AttackTranscript.limit : 0)
            let server = try LoopbackTCPServer(
                listeningAt: address, timeLimit: timeLimit
            ) { connection in
                let stream = TalliedStream(connection, tally)
                HTTPService(handler: { _ in .ok }).serveOnce(stream)
                observer?(.init(plainByteCount: stream.count))
            }
            let port = clientPort == nil ? server.port : 80
            let location = "http://\(AttackServer.authority(attack.host, port, standard: 80))/"
            elsewhere = .plain(server, tally)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { _ in false },
                service: .answering { .redirect(to: location) })
        case .challenge(let credential, let interceptor):
            let later = LaterConnections()
            elsewhere = .later(later)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { $0.credentialNumber > 0 },
                service: .answering {
                    later.show(interceptor)
                    var response = HTTPResponse.unauthorized()
                    response.closesConnection = true
                    return response
                })
            later.server.withLock { $0 = WeakServer(first) }
        case .move(let signal, let credential, let interceptor):
            let later = LaterConnections()
            elsewhere = .later(later)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { $0.credentialNumber > 0 },
                service: .moving(signal) { later.show(interceptor) })
            later.server.withLock { $0 = WeakServer(first) }
        case .coalescing(let credential, let other, let right):
            let later = LaterConnections()
            let hosts = AttackHosts(first: attack.host, other: other)
            elsewhere = .shared(later, hosts)
            var configuration = TLSServerConfiguration(credential)
            configuration.credentialsByServerName = [hosts.first.lowercased(): credential, other.lowercased(): right]
            first = try start(
                configuration, isAttack: { $0.misdirectedByteCount > 0 },
                service: .sharing(hosts) {
                    later.show(right)
                    let port = later.server.withLock { $0.server?.port } ?? 0
                    return .redirect(to: AttackServer.url(other, clientPort ?? port))
                })
            later.server.withLock { $0 = WeakServer(first) }
        }
    }

    deinit { close() }

    /// Returns the time limit of a connection in seconds, so that idle connections do not block further ones for good. It is
    /// short if other machines can reach the server. On this machine a client may wait in a debugger.
    package static func timeLimit(at address: String?) -> Double { address == nil ? 300 : 10 }

    /// The port of the server that the client is sent to.
    package var port: UInt16 { first.port }

    /// The URL of the first server, such as `https://localhost:49152/`.
    package var url: String { AttackServer.url(attack.host, clientPort ?? port) }

    /// The servers by the names and ports in the URLs of a client that comes through a proxy.
    package var routes: [AttackRoute] {
        let tls = clientPort ?? 443
        let start = AttackRoute(host: attack.host, port: tls, server: first.port)
        switch (elsewhere, attack.staging) {
        case (.tls(let server), .redirect(_, let other, _)):
            return [start, AttackRoute(host: other, port: tls, server: server.port)]
        case (.shared(_, let hosts), _): return [start, AttackRoute(host: hosts.other, port: tls, server: first.port)]
        case (.plain(let server, _), _): return [start, AttackRoute(host: attack.host, port: 80, server: server.port)]
        default: return [start]
        }
    }

    private static func url(_ host: String, _ port: UInt16) -> String {
        "https://\(authority(host, port, standard: 443))/"
    }

    private static func authority(_ host: String, _ port: UInt16, standard: UInt16) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == standard ? name : "\(name):\(port)"
    }

    /// Returns the connections and bytes that the servers have received until now.
    package func observation() -> AttackObservation {
        var observation = tallies()
        let connections = observation.connections
        let there: [TLSConnectionRecord] = if case .tls(let server) = elsewhere { server.connections } else { [] }
        let isClear = if case .plain(_, let tally) = elsewhere { tally.total > 0 } else { false }
        let all = connections + there
        let exposed = all.indices.firstIndex { index in
            let record = all[index]
            let isAttack =
                switch elsewhere {
                case .later: record.credentialNumber > 0
                case .shared: record.misdirectedByteCount > 0
                case .nowhere, .tls, .plain: there.isEmpty || index >= connections.count
                }
            return record.clearByteCount > 0 || isAttack && record.requestByteCount > 0
        }
        observation.decisiveConnection =
            isClear ? connections.count + 1 : exposed.map { $0 + 1 } ?? (all.isEmpty ? nil : all.count)
        return observation
    }

    private func tallies() -> AttackObservation {
        let connections = first.connections
        let atFirst = connections.reduce(0) { $0 + $1.requestByteCount }
        let clear = connections.reduce(0) { $0 + $1.clearByteCount }
        switch elsewhere {
        case .nowhere:
            return AttackObservation(
                connections: connections, exposedByteCount: atFirst + clear, clearByteCount: clear,
                wasTried: attack.needsRequest ? atFirst > 0 : !connections.isEmpty, wasFollowed: true)
        case .tls(let server):
            let there = server.connections
            let clearThere = clear + there.reduce(0) { $0 + $1.clearByteCount }
            return AttackObservation(
                connections: connections, exposedByteCount: server.requestByteCount + clearThere,
                clearByteCount: clearThere, wasTried: atFirst > 0, wasFollowed: !there.isEmpty)
        case .plain(let server, let tally):
            return AttackObservation(
                connections: connections, exposedByteCount: tally.total + clear, clearByteCount: tally.total + clear,
                wasTried: atFirst > 0, wasFollowed: server.connectionCount > 0)
        case .later:
            let later = connections.filter { $0.credentialNumber > 0 }
            return AttackObservation(
                connections: connections, exposedByteCount: later.reduce(clear) { $0 + $1.requestByteCount },
                clearByteCount: clear, wasTried: atFirst > 0, wasFollowed: !later.isEmpty)
        case .shared(_, let hosts):
            let misdirected = connections.reduce(0) { $0 + $1.misdirectedByteCount }
            return AttackObservation(
                connections: connections, exposedByteCount: misdirected + clear, clearByteCount: clear,
                wasTried: atFirst > 0, wasFollowed: misdirected > 0 || !connections.allSatisfy(hosts.isOfFirst))
        }
    }

    /// Returns what the connections brought: those to the first server, then those to the place that it redirected the client
    /// to. Plain HTTP connections there are one transcript.
    package func transcripts() -> [AttackTranscript] {
        var transcripts = first.connections.map { AttackTranscript(record: $0, received: $0.received) }
        switch elsewhere {
        case .tls(let server):
            transcripts += server.connections.map { AttackTranscript(record: $0, received: $0.received) }
        case .plain(_, let tally) where tally.total > 0:
            transcripts.append(AttackTranscript(record: nil, received: tally.received))
        case .plain, .nowhere, .later, .shared: break
        }
        return transcripts
    }

    /// Waits until every connection has ended, also those still queued, and the servers have read all their bytes. Later
    /// connections are not waited for.
    /// - Parameter seconds: The time for each server.
    /// - Returns: `false` if a connection is still open after that time, unless the servers have answered all its requests.
    @discardableResult
    package func waitUntilQuiet(seconds: Double = 2) -> Bool {
        // The client can have connected before the server accepts the connection.
        _ = first.wait(seconds: 0.2) { !$0.isEmpty }
        if waitUntilIdle(seconds: seconds) { return true }
        let isElsewhereIdle =
            switch elsewhere {
            case .tls(let server): server.isIdle
            case .plain(let server, _): server.waitUntilIdle(seconds: 0)
            case .nowhere, .later, .shared: true
            }
        return first.isIdle && isElsewhereIdle
    }

    /// Waits until no connection is queued or open.
    ///
    /// - Parameter seconds: The time for each server.
    /// - Returns: `false` if a connection is still open after that time.
    package func waitUntilIdle(seconds: Double) -> Bool {
        let isFirstIdle = first.waitUntilIdle(seconds: seconds)
        switch elsewhere {
        case .tls(let server): return server.waitUntilIdle(seconds: seconds) && isFirstIdle
        case .plain(let server, _): return server.waitUntilIdle(seconds: seconds) && isFirstIdle
        case .nowhere, .later, .shared: return isFirstIdle
        }
    }

    /// Ends all connections and waits for their threads.
    package func close() {
        first.close()
        switch elsewhere {
        case .tls(let server): server.close()
        case .plain(let server, _): server.close()
        case .nowhere, .later, .shared: break
        }
    }
}

/// One connection to a server of an attack: all of it at its end, or over HTTP/2 the part until a response.
package struct AttackConnection: Sendable {
    /// `nil` for plain HTTP.
    package let record: TLSConnectionRecord?
    package let requestByteCount: Int
    /// A Boolean value that indicates whether the connection reached the attack, and not only a server that leads to it.
    package let isAttack: Bool

    init(record: TLSConnectionRecord, isAttack: Bool) {
        self.record = record
        // Anyone can read unencrypted bytes.
        self.isAttack = isAttack || record.clearByteCount > 0
        let misdirected = record.misdirectedByteCount
        requestByteCount = (misdirected > 0 ? misdirected : record.requestByteCount) + record.clearByteCount
    }

    package init(plainByteCount: Int) {
        record = nil
        isAttack = true
        requestByteCount = plainByteCount
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

/// The switch of a server to another credential after its first response.
final class LaterConnections: Sendable {
    let server = Mutex(WeakServer(nil))
    private let hasChanged = Mutex(false)

    /// Switches the server to a credential, once.
    func show(_ credential: TLSServerConfiguration.Credential) {
        let server = server.withLock { $0.server }
        hasChanged.withLock { hasChanged in
            guard !hasChanged, let server, (try? server.replaceCredential(credential)) != nil else { return }
            hasChanged = true
        }
    }
}

/// A weak reference, so that a server does not own its owner.
struct WeakServer {
    weak var server: LoopbackTLSServer?

    init(_ server: LoopbackTLSServer?) {
        self.server = server
    }
}
