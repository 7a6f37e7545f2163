internal import Synchronization

/// The servers of one attack, up until this is closed or the last reference goes. May be used from any thread.
public final class AttackServer: Sendable {
    /// The attack that the servers make.
    public let attack: Attack
    private let first: LoopbackTLSServer
    private let elsewhere: Elsewhere

    /// Where else than at the first server something is to be seen.
    private enum Elsewhere: Sendable {
        case nowhere
        case tls(LoopbackTLSServer)
        case plain(LoopbackTCPServer, ByteTally)
        /// At the first server, from a connection on.
        case later(LaterConnections)
    }

    /// - Parameters:
    ///   - address: to listen at, instead of loopback.
    ///   - observer: is given each connection when it is over, to any of the servers; none is kept then, and
    ///     ``observation()`` knows of none.
    package init(
        _ attack: Attack, listeningAt address: String? = nil,
        observer: (@Sendable (AttackConnection) -> Void)? = nil
    ) throws {
        self.attack = attack
        func start(
            _ configuration: TLSServerConfiguration,
            isAttack: @escaping @Sendable (TLSConnectionRecord) -> Bool = { _ in true },
            response: @escaping @Sendable () -> HTTPResponse = { .ok }
        ) throws -> LoopbackTLSServer {
            var configuration = configuration
            configuration.address = address
            configuration.allowsResumption = false
            configuration.timeLimit = configuration.stall == nil ? AttackServer.timeLimit(at: address) : nil
            if let observer {
                configuration.connectionObserver = { observer(.init(record: $0, isAttack: isAttack($0))) }
            }
            configuration.application = .stream { HTTPService(handler: { _ in response() }).serveOnce($0) }
            return try LoopbackTLSServer(configuration)
        }
        switch attack.staging {
        case .server(let configuration):
            elsewhere = .nowhere
            first = try start(configuration)
        case .redirect(let credential, let other, let target):
            let server = try start(TLSServerConfiguration(target))
            let location = server.url(host: other)
            elsewhere = .tls(server)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { _ in false }, response: { .redirect(to: location) })
        case .plainRedirect(let credential):
            let tally = ByteTally()
            let server = try LoopbackTCPServer(
                listeningAt: address, timeLimit: AttackServer.timeLimit(at: address)
            ) { connection in
                let stream = TalliedStream(connection, tally)
                HTTPService(handler: { _ in .ok }).serveOnce(stream)
                observer?(.init(plainByteCount: stream.count))
            }
            let location = "http://\(AttackServer.authority(attack.host, server.port))/"
            elsewhere = .plain(server, tally)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { _ in false }, response: { .redirect(to: location) })
        case .challenge(let credential, let interceptor):
            let later = LaterConnections()
            elsewhere = .later(later)
            first = try start(
                TLSServerConfiguration(credential), isAttack: { $0.credentialNumber > 0 },
                response: { later.challenge(thenShowing: interceptor) })
            later.server.withLock { $0 = WeakServer(first) }
        }
    }

    deinit { close() }

    /// In seconds: where others reach a server, those who only hold connections must not keep everybody else out.
    package static func timeLimit(at address: String?) -> Double? { address == nil ? nil : 10 }

    /// The port of the server that the client is sent to.
    public var port: UInt16 { first.port }

    /// `https://localhost:49152/`
    public var url: String { "https://\(AttackServer.authority(attack.host, port))/" }

    private static func authority(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Returns the connections and bytes that the servers have seen until now.
    public func observation() -> AttackObservation {
        let connections = first.connections
        let atFirst = connections.reduce(0) { $0 + $1.requestByteCount }
        let clear = connections.reduce(0) { $0 + $1.clearByteCount }
        switch elsewhere {
        case .nowhere:
            return AttackObservation(
                connections: connections, exposedByteCount: atFirst + clear, clearByteCount: clear,
                wasTried: !connections.isEmpty, wasFollowed: true)
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
        }
    }

    /// Waits until every connection is over, those too that the servers have not taken yet, and all that was sent over
    /// them has been read; what comes later nobody waits for.
    /// - Parameter seconds: For each of the servers.
    /// - Returns: False where a connection was still open when the time was up.
    @discardableResult
    public func waitUntilQuiet(seconds: Double = 2) -> Bool {
        // A connection is made before the server takes it.
        _ = first.wait(seconds: 0.2) { !$0.isEmpty }
        return waitUntilIdle(seconds: seconds)
    }

    /// Waits until no connection is open that the server has taken, for each of its ports at most so long.
    ///
    /// - Returns: `false` where one is still open.
    public func waitUntilIdle(seconds: Double) -> Bool {
        let isFirstIdle = first.waitUntilIdle(seconds: seconds)
        switch elsewhere {
        case .tls(let server): return server.waitUntilIdle(seconds: seconds) && isFirstIdle
        case .plain(let server, _): return server.waitUntilIdle(seconds: seconds) && isFirstIdle
        case .nowhere, .later: return isFirstIdle
        }
    }

    /// Ends all connections and waits for their threads.
    public func close() {
        first.close()
        switch elsewhere {
        case .tls(let server): server.close()
        case .plain(let server, _): server.close()
        case .nowhere, .later: break
        }
    }
}

/// One connection to a server of an attack, once it is over.
package struct AttackConnection: Sendable {
    /// `nil` for plain HTTP.
    package let record: TLSConnectionRecord?
    package let requestByteCount: Int
    /// Whether it is where the attack is, and not only on the way there.
    package let isAttack: Bool

    init(record: TLSConnectionRecord, isAttack: Bool) {
        self.record = record
        // What comes in the clear everybody reads.
        self.isAttack = isAttack || record.clearByteCount > 0
        requestByteCount = record.requestByteCount + record.clearByteCount
    }

    init(plainByteCount: Int) {
        record = nil
        isAttack = true
        requestByteCount = plainByteCount
    }
}

/// Bytes that came in the clear.
final class ByteTally: Sendable {
    private let bytes = Atomic(0)

    var total: Int { bytes.load(ordering: .relaxed) }

    func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}

/// A connection whose bytes from the client are counted.
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
        tally.add(bytes.count)
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(StreamError) { try stream.write(bytes) }
}

/// A server that changes hands after its first answer.
final class LaterConnections: Sendable {
    let server = Mutex(WeakServer(nil))
    private let hasChanged = Mutex(false)

    /// Asks for a password, and hands the server over.
    func challenge(thenShowing credential: TLSServerConfiguration.Credential) -> HTTPResponse {
        let server = server.withLock { $0.server }
        hasChanged.withLock { hasChanged in
            guard !hasChanged, let server, (try? server.replaceCredential(credential)) != nil else { return }
            hasChanged = true
        }
        return .unauthorized()
    }
}

/// A weak reference, so that a server does not own its owner.
struct WeakServer {
    weak var server: LoopbackTLSServer?

    init(_ server: LoopbackTLSServer?) {
        self.server = server
    }
}

/// The connections and bytes that the servers of an attack have seen, so far or in all.
public struct AttackObservation: Sendable, Hashable {
    /// One for each connection to the server that the client was sent to, oldest first.
    public let connections: [TLSConnectionRecord]
    /// Request bytes, decrypted, that came to where the attack is: to the server that ``Attack/expectation`` is about, or
    /// where that server sent the client on, there. What came to any of them in the clear is counted with them.
    public let exposedByteCount: Int
    /// How many of those came without TLS: over plain HTTP after a redirect, or to a server of TLS, from a client that
    /// falls back.
    public let clearByteCount: Int
    /// A Boolean value that indicates whether the client came to the attack: to the first server, or was sent on by it.
    public let wasTried: Bool
    /// A Boolean value that indicates whether a connection came to the attack, where that is not at the first server.
    package let wasFollowed: Bool

    /// Request bytes at the first server.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Connections whose handshake the client finished.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// A Boolean value that indicates whether there were connections and all are over. Without a request it is the client that
    /// has ended them.
    public var isOver: Bool { !connections.isEmpty && connections.allSatisfy(\.isClosed) }

    /// A Boolean value that indicates whether the client ended every connection by an alert that refuses the certificate,
    /// and sent no byte of a request on any of them.
    package var refusedEveryCertificate: Bool {
        !connections.isEmpty && exposedByteCount == 0
            && connections.allSatisfy { connection in
                connection.requestByteCount == 0 && connection.clearByteCount == 0
                    && connection.alertsReceived.contains(where: \.refusesCertificate)
            }
    }

    /// The last fatal alert from the client.
    package var alert: LoopbackTLSServer.Alert? { connections.flatMap(\.alertsReceived).last(where: \.isFatal) }
}
