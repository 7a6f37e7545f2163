import Glibc
import PintleTestKit
import Synchronization

/// A TCP peer on loopback that runs a script for each connection, on a separate thread. It plays what no real server
/// does: other protocols, truncated messages, silence.
final class ScriptedPeer: Sendable {
    private let server: LoopbackTCPServer

    init(_ script: @escaping @Sendable (Connection) -> Void) throws {
        server = try LoopbackTCPServer { script(Connection(stream: $0)) }
    }

    var port: UInt16 { server.port }

    /// A connection from the peer's side. A broken connection reads as ended, so that scripts need no error handling.
    struct Connection {
        let stream: TCPConnection

        /// Returns at most `count` bytes; empty at the end.
        func read(atMost count: Int = 65_536) -> [UInt8] { (try? stream.read(upTo: count)) ?? [] }

        /// Returns exactly `count` bytes; empty if there are fewer.
        func read(exactly count: Int) -> [UInt8] { (try? stream.read(exactly: count)) ?? [] }

        /// Reads up to and including the empty line of an HTTP head.
        func readHead() -> String {
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), case let byte = read(atMost: 1), !byte.isEmpty {
                bytes += byte
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Returns `false` if the other side has closed.
        @discardableResult
        func write(_ bytes: [UInt8]) -> Bool { (try? stream.write(bytes)) != nil }

        func write(_ text: String) { write(Array(text.utf8)) }

        /// Relays bytes both ways between this connection and a port on loopback.
        func relay(to port: UInt16, watchedBy wire: Wire = Wire()) {
            let upstream = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(upstream) }
            guard withLoopback(port, { connect(upstream, $0, $1) }) == 0 else { return }
            var entries = [stream.fileDescriptor, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while poll(&entries, 2, 10_000) > 0 {
                if entries[0].revents != 0 {
                    let bytes = read()
                    guard !bytes.isEmpty, wire.carries(bytes) else { return }
                    guard send(upstream, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else { return }
                }
                if entries[1].revents != 0 {
                    let count = recv(upstream, &buffer, buffer.count, 0)
                    guard count > 0, write(Array(buffer.prefix(count))) else { return }
                }
            }
        }
    }
}

/// Records what a client sends through a relay, and can cut the relay.
final class Wire: Sendable {
    private let state = Mutex<(sent: [UInt8], isCut: Bool)>(([], false))

    /// Makes the relay close both sides when the client next sends bytes.
    func cut() { state.withLock { $0.isCut = true } }

    fileprivate func carries(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            state.sent += bytes
            return !state.isCut
        }
    }

    /// Returns the content types of the TLS records (RFC 5246 section 6.2.1), once the last one is `type` or after five
    /// seconds.
    func recordTypes(endingWith type: UInt8) -> [UInt8] {
        var types: [UInt8] = []
        for attempt in 0..<500 where types.last != type {
            if attempt > 0 { usleep(10_000) }
            var rest = state.withLock { $0.sent }[...]
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
