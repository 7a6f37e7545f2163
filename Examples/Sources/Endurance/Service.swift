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
    /// The size in bytes of the answers to `GET /down` and `GET /encoded`, whole mebibytes.
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
            guard answer(stream, path == "/down" || path == "/encoded" ? size >> 20 : 0, encodes: path == "/encoded")
            else { return }
        }
    }

    /// Answers with mebibytes of content, as they are or as blocks of deflate that are not compressed (RFC 1951 section
    /// 3.2.4).
    private func answer(_ stream: any ByteStream, _ mebibytes: Int, encodes: Bool) -> Bool {
        let text = [UInt8](repeating: 0x78, count: 32_768)
        let block = encodes ? [0, 0x00, 0x80, 0xFF, 0x7F] + text : text
        let piece = (0..<32).flatMap { _ in block }
        let end: [UInt8] = encodes ? [1, 0, 0, 0xFF, 0xFF] : []
        let coding = encodes ? "Content-Encoding: deflate\r\n" : ""
        let head = "HTTP/1.1 200 OK\r\n\(coding)Content-Length: \(mebibytes * piece.count + end.count)\r\n\r\n"
        do {
            try stream.write(Array(head.utf8))
            for _ in 0..<mebibytes { try stream.write(piece) }
            try stream.write(end)
            return true
        } catch {
            return false
        }
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
