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
    private let change = Mutex<Int?>(nil)
    private let requests = Atomic(0)

    /// How many connections there had been when it changed hands; `nil` before.
    var firstIndex: Int? { change.withLock { $0 } }

    /// Asks for a password, and hands the server over.
    func challenge(thenShowing credential: TLSServerConfiguration.Credential) -> HTTPResponse {
        let server = server.withLock { $0.server }
        change.withLock { index in
            guard index == nil, let server, (try? server.replaceCredential(credential)) != nil else { return }
            index = server.connectionCount
        }
        return .unauthorized()
    }

    /// Whether a connection that is over came after the one with the first request.
    func isLater(_ record: TLSConnectionRecord) -> Bool {
        record.requestByteCount > 0 && requests.add(1, ordering: .relaxed).oldValue > 0
    }
}

/// What owns a server is not owned by it.
struct WeakServer {
    weak var server: LoopbackTLSServer?

    init(_ server: LoopbackTLSServer?) {
        self.server = server
    }
}
