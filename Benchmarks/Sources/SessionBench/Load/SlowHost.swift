import Foundation
import PintleTestKit

/// A server that waits 100 ms before each answer, and sends it in pieces of 4 KiB, one each 10 ms.
enum SlowHost {
    static let size = 65_536

    static func start(_ identity: Identity) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(identity) { $0.serve(answer) }
    }

    private static func answer(_ stream: any ByteStream) {
        while readHead(stream) {
            usleep(100_000)
            do {
                try stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8))
                for _ in 0..<16 {
                    try stream.write([UInt8](repeating: 120, count: size / 16))
                    usleep(10_000)
                }
            } catch {
                return
            }
        }
    }

    /// Reads the head of a request without content. Returns `false` at the end of the connection.
    private static func readHead(_ stream: any ByteStream) -> Bool {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let bytes = try? stream.read(upTo: 4_096), !bytes.isEmpty, head.count < 65_536 else { return false }
            head += bytes
        }
        return true
    }
}
