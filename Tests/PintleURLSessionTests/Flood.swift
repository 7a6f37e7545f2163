import Foundation
import PintleTestKit
import Synchronization
import Testing

/// Data that a hostile server sends as fast as it can, for as long as the client reads it.
enum Flood: String, CaseIterable, CustomTestStringConvertible {
    /// Before the verdict: HelloRequest messages, which a client ignores during a handshake (RFC 5246 section 7.4.1.1).
    case helloRequest
    /// After the request: KeyUpdate messages (RFC 8446 section 4.6.3), each in a record of its own.
    case keyUpdate
    /// Over HTTP/2, after the head of the response (RFC 9113 sections 6.1, 6.3, 6.7 and 6.9).
    case priority
    case emptyData
    case ping
    case windowUpdate
    /// Over plain HTTP: endless content.
    case content
    /// Over plain HTTP: endless content in chunks of one byte (RFC 9112 section 7.1).
    case chunks
    /// Over plain HTTP: responses with status 100, which precede the final one (RFC 9110 section 15.2.1).
    case interim

    /// The floods that contain nothing a request waits for.
    static let useless: [Flood] = [.helloRequest, .keyUpdate, .priority, .emptyData, .ping, .windowUpdate]

    var testDescription: String { rawValue }

    /// About 16 KiB of the flood.
    var piece: [UInt8] {
        func repeated(_ bytes: [UInt8]) -> [UInt8] { Array(repeatElement(bytes, count: 16_384 / bytes.count).joined()) }
        switch self {
        case .helloRequest: return [22, 3, 3, 0x40, 0] + [UInt8](repeating: 0, count: 16_384)
        case .keyUpdate: return []
        case .priority: return repeated([0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 16])
        case .emptyData: return repeated([0, 0, 0, 0, 0, 0, 0, 0, 1])
        // Acknowledgements that no PING asked for: nghttp2 would count real PINGs, which it has to answer, and give up.
        case .ping: return repeated([0, 0, 8, 6, 1, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8))
        case .windowUpdate: return repeated([0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0, 1])
        case .content: return repeated([0x78])
        case .chunks: return repeated(Array("1\r\nx\r\n".utf8))
        case .interim: return repeated(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
    }
}

/// A server that floods its clients.
final class FloodServer: Sendable {
    private enum Server: Sendable {
        case plain(LoopbackTCPServer)
        case secure(LoopbackTLSServer)
    }

    private let server: Server
    private let written: Written
    /// The bytes written so far, without TLS framing. Some of them may still be in the sockets' buffers.
    var byteCount: Int { written.count.load(ordering: .relaxed) }
    let url: URL

    private final class Written: Sendable {
        let count = Atomic<Int>(0)
    }

    init(_ flood: Flood, at fixture: SessionFixture) throws {
        let written = Written()
        self.written = written
        let pour: @Sendable (any ByteStream) -> Void = { stream in
            let piece = flood.piece
            while (try? stream.write(piece)) != nil { written.count.add(piece.count, ordering: .relaxed) }
        }
        let address: String
        switch flood {
        case .helloRequest, .content, .chunks, .interim:
            let tcp = try LoopbackTCPServer { connection in
                _ = try? connection.read(upTo: 4_096)
                if flood == .chunks {
                    try? connection.write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
                }
                if flood == .content { try? connection.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)) }
                pour(connection)
            }
            server = .plain(tcp)
            address = flood == .helloRequest ? "https://localhost:\(tcp.port)/" : "http://127.0.0.1:\(tcp.port)/"
        case .keyUpdate:
            let tls = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.application = .stream { stream in
                    guard (try? stream.read(upTo: 4_096)) != nil, let stream = stream as? TLSServerConnection else {
                        return
                    }
                    // A record with one message has 27 bytes.
                    while (try? stream.updateKeys(times: 100)) != nil { written.count.add(2_700, ordering: .relaxed) }
                }
            }
            server = .secure(tls)
            address = tls.url()
        default:
            let tls = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    try? stream.write(Frame.head)
                    pour(stream)
                }
            }
            server = .secure(tls)
            address = tls.url()
        }
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        self.url = url
    }

    /// Waits up to a minute until the flood has begun. Sixteen floods begin slowly under the thread sanitizer.
    func isFlooding() async -> Bool {
        for _ in 0..<6_000 {
            if byteCount > 1 << 18 { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}

extension Frame {
    /// Reads up to the end of the first request of a connection, and answers with SETTINGS.
    static func readRequest(_ stream: any ByteStream) -> Bool {
        guard (try? stream.read(exactly: preface.count)) == preface else { return false }
        try? stream.write(settings)
        return readNextRequest(stream) != nil
    }

    /// Reads up to the answer to a PING.
    static func readAnswerToPing(_ stream: any ByteStream) -> Bool {
        while let header = try? stream.read(exactly: 9), header.count == 9 {
            let count = header.prefix(3).reduce(0) { $0 << 8 + Int($1) }
            guard count == 0 || (try? stream.read(exactly: count)) != nil else { return false }
            if header[3] == 6, header[4] & 1 == 1 { return true }
        }
        return false
    }

    /// Reads up to the end of the next request of a connection.
    ///
    /// - Returns: The last byte of the stream's number.
    static func readNextRequest(_ stream: any ByteStream, noteReset: () -> Void = {}) -> UInt8? {
        while true {
            guard let header = try? stream.read(exactly: 9) else { return nil }
            let count = header.prefix(3).reduce(0) { $0 << 8 + Int($1) }
            guard count == 0 || (try? stream.read(exactly: count)) != nil else { return nil }
            if header[3] == 3 { noteReset() }
            // HEADERS or DATA with END_STREAM.
            if header[3] <= 1, header[4] & 1 == 1 { return header[8] }
        }
    }
}
