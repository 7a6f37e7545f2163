import Foundation
import Glibc
import PintleTestKit

/// The servers of section C.
enum Servers {
    static func run(_ what: String) throws -> Int32 {
        let files = try Files()
        defer { files.remove() }
        let identity = try files.writeIdentity()
        // A sparse file of zeros.
        try files.write("", to: "gigabyte")
        truncate(files.path(of: "gigabyte"), 1 << 30)

        let sink = try LoopbackTLSServer(identity) { $0.serve(swallow) }
        // A free port: a server on it was just closed.
        let port = try LoopbackTLSServer(identity).port
        try files.write("https://localhost:\(port)/ https://localhost:\(sink.port)/", to: "addresses")
        let nginx = try Nginx(configuration: configuration(port: port, root: files.path), files: files, port: port)
        defer { nginx.end() }

        let last = max(0, ProcessInfo.processInfo.processorCount - 1)
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        client.arguments = ["taskset", "-c", "\(last)", CommandLine.arguments[0], "client", files.path, what]
        var environment = ProcessInfo.processInfo.environment
        environment["SSL_CERT_FILE"] = files.path(of: "roots.pem")
        environment["SSL_CERT_DIR"] = files.path(of: "none")
        // Foundation on Linux always reads the system's file of roots. client.c replaces it with this one.
        environment["PINTLE_BENCH_ROOTS"] = files.path(of: "roots.pem")
        client.environment = environment
        try client.run()
        client.waitUntilExit()
        withExtendedLifetime(sink) {}
        return client.terminationStatus
    }

    /// Reads requests with content of any length, discards the content, and answers each.
    private static func swallow(_ stream: any ByteStream) {
        while true {
            var head: [UInt8] = []
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard let byte = try? stream.read(upTo: 1), !byte.isEmpty, head.count < 65_536 else { return }
                head += byte
            }
            let lines = String(decoding: head, as: UTF8.self).lowercased().split(whereSeparator: \.isNewline)
            let length = lines.first { $0.hasPrefix("content-length:") }?.split(separator: " ").last
            var rest = length.flatMap { Int($0) } ?? 0
            if lines.contains("expect: 100-continue") { try? stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
            while rest > 0 {
                guard let bytes = try? stream.read(upTo: min(rest, 65_536)), !bytes.isEmpty else { return }
                rest -= bytes.count
            }
            guard (try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))) != nil else { return }
        }
    }

    private static func configuration(port: UInt16, root: String) -> String {
        Nginx.configuration(
            """
            server {
                listen 127.0.0.1:\(port) ssl;
                root \(root);
                location /new { keepalive_timeout 0; return 200 "\(String(repeating: "x", count: 100))"; }
                location /kept { return 200 "\(String(repeating: "x", count: 100))"; }
                location /gigabyte {}
            }
            """)
    }
}
