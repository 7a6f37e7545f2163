import Glibc
import PintleTestKit
import Synchronization

/// A TCP peer on loopback that does what a script says with each connection, on a thread of its own.
/// For what no real server does: other protocols, half messages, silence.
final class ScriptedPeer: Sendable {
    /// One connection, seen from the peer. Blocking, with a limit of ten seconds per read.
    struct Connection {
        let descriptor: CInt

        /// At most `count` bytes; empty at the end.
        func read(atMost count: Int = 65_536) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let got = recv(descriptor, &bytes, count, 0)
            return Array(bytes.prefix(max(0, got)))
        }

        func read(exactly count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                let piece = read(atMost: count - bytes.count)
                if piece.isEmpty { break }
                bytes += piece
            }
            return bytes
        }

        /// Up to and including the empty line of an HTTP head.
        func readHead() -> String {
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                let piece = read(atMost: 1)
                if piece.isEmpty { break }
                bytes += piece
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// False when the other side has gone.
        @discardableResult
        func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }

        func write(_ text: String) { write(Array(text.utf8)) }

        /// Carries bytes both ways between this connection and a port on loopback; where a number of
        /// pieces is given, ends both when the client sends one more.
        func relay(to port: UInt16, recording record: RecordedBytes? = nil, piecesFromClient limit: Int = .max) {
            var pieces = 0
            let upstream = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(upstream) }
            guard withLoopback(port, { connect(upstream, $0, $1) }) == 0 else { return }
            let there = Connection(descriptor: upstream)
            var entries = [descriptor, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while poll(&entries, 2, 10_000) > 0 {
                if entries[0].revents != 0 {
                    let bytes = read()
                    record?.append(bytes)
                    pieces += 1
                    if pieces > limit || bytes.isEmpty || !there.write(bytes) { return }
                }
                if entries[1].revents != 0 {
                    let bytes = there.read()
                    if bytes.isEmpty || !write(bytes) { return }
                }
            }
        }
    }

    let port: UInt16
    private let listener: CInt
    private let accepted = Atomic(0)

    /// How many connections have come.
    var connectionCount: Int { accepted.load(ordering: .acquiring) }

    /// A port on which nothing listens: it was free a moment ago.
    static func unusedPort() throws -> UInt16 {
        let probe = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        return try bindToFreePort(probe)
    }

    init(_ script: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        port = try bindToFreePort(listener)
        guard listen(listener, 16) == 0 else { throw SystemCallError(operation: "listening", code: errno) }
        self.listener = listener
        startThread { [weak self] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                self?.accepted.add(1, ordering: .releasing)
                var limit = timeval(tv_sec: 10, tv_usec: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
                startThread {
                    script(Connection(descriptor: descriptor))
                    close(descriptor)
                }
            }
            close(listener)
        }
    }

    deinit {
        // Wakes the thread that accepts, which closes it.
        shutdown(listener, CInt(SHUT_RDWR))
    }
}

/// What a client sent, as a relay saw it.
final class RecordedBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }

    /// The content types of the TLS records (RFC 5246 section 6.2.1), once the last is `type`, or after
    /// five seconds.
    func recordTypes(endingWith type: UInt8) -> [UInt8] {
        var types: [UInt8] = []
        for _ in 0..<500 where types.last != type {
            if !types.isEmpty { usleep(10_000) }
            var rest = bytes.withLock { $0 }[...]
            types = []
            while rest.count >= 5 {
                let header = Array(rest.prefix(5))
                types.append(header[0])
                rest = rest.dropFirst(5 + Int(header[3]) << 8 + Int(header[4]))
            }
        }
        return types
    }
}

func bindToFreePort(_ descriptor: CInt) throws -> UInt16 {
    guard descriptor >= 0, withLoopback(0, { bind(descriptor, $0, $1) }) == 0 else {
        throw SystemCallError(operation: "binding", code: errno)
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &address) { raw in
        _ = getsockname(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return UInt16(bigEndian: address.sin_port)
}

func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// A thread of its own: scripts block, and the tests' own threads are few.
private func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    let status = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }, box)
    if status == 0 { pthread_detach(thread) } else { Unmanaged<Box>.fromOpaque(box).release() }
}
