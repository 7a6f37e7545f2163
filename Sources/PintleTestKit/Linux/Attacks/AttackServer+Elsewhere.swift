internal import Synchronization

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

/// What owns a server is not owned by it.
struct WeakServer {
    weak var server: LoopbackTLSServer?

    init(_ server: LoopbackTLSServer?) {
        self.server = server
    }
}
