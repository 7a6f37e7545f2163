import Foundation
import PintleTestKit

/// A barrier that releases all requests when the last one has arrived.
final class Crowd: Sendable {
    private let size: Int
    private let state = NSCondition()
    // Protected by the condition's lock.
    private nonisolated(unsafe) var count = 0

    init(of size: Int) {
        self.size = size
    }

    func wait() {
        state.lock()
        defer { state.unlock() }
        count += 1
        state.broadcast()
        while count < size { state.wait() }
    }
}

/// An HTTP/1.1 service that keeps no content in memory.
struct Service {
    let crowd: Crowd
    /// The size in bytes of the answer to `GET /down`.
    let size: Int

    func run(_ stream: any ByteStream) {
        while let head = readHead(stream) {
            let lines = head.split(whereSeparator: \.isNewline)
            let path = lines.first?.split(separator: " ").dropFirst().first ?? ""
            let length = lines.first { $0.hasPrefix("Content-Length:") }?.split(separator: " ").last
            var rest = length.flatMap { Int($0) } ?? 0
            if head.contains("Expect: 100-continue") {
                try? stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            while rest > 0 {
                guard let bytes = try? stream.read(upTo: min(rest, 65_536)), !bytes.isEmpty else { return }
                rest -= bytes.count
            }
            if path == "/crowd" { crowd.wait() }
            guard answer(stream, path == "/down" ? size : 0) else { return }
        }
    }

    private func answer(_ stream: any ByteStream, _ size: Int) -> Bool {
        let piece = [UInt8](repeating: 0x78, count: 1 << 20)
        guard (try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8))) != nil else {
            return false
        }
        var rest = size
        while rest > 0 {
            let next = rest < piece.count ? Array(piece.prefix(rest)) : piece
            guard (try? stream.write(next)) != nil else { return false }
            rest -= min(rest, piece.count)
        }
        return true
    }

    private func readHead(_ stream: any ByteStream) -> String? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 65_536, let byte = try? stream.read(upTo: 1), !byte.isEmpty else { return nil }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }
}
