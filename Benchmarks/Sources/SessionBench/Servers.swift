import Foundation
import Glibc
import PintleTestKit

/// The servers of section C.
enum Servers {
    /// Debian's file with all roots. Other systems may have it elsewhere.
    private static let roots = "/etc/ssl/certs/ca-certificates.crt"

    static func run(_ what: String) throws -> Int32 {
        guard let system = FileManager.default.contents(atPath: roots) else { stop("no roots in \(roots)") }
        let files = try Files()
        defer { files.remove() }
        let authority = try CertificateAuthority.root(name: "Bench Root", keyType: .rsa(bits: 4_096))
        let identity = try authority.intermediate(keyType: .rsa2048).issue(hosts: ["localhost"], keyType: .p256)
        // A realistic store: the system's roots and one more.
        try files.write(Array(system) + Array(authority.certificate.pem.utf8), to: "roots.pem")
        try files.write(identity.chainPEM, to: "chain.pem")
        try files.write(identity.key.pem, to: "key.pem")
        try files.write(identity.certificate.spkiDER, to: "spki.der")
        // A sparse file of zeros.
        try files.write("", to: "gigabyte")
        truncate(files.path(of: "gigabyte"), 1 << 30)

        let sink = try LoopbackTLSServer(identity) { $0.serve(swallow) }
        // A free port: a server on it was just closed.
        let port = try LoopbackTLSServer(identity).port
        try files.write("https://localhost:\(port)/ https://localhost:\(sink.port)/", to: "addresses")
        try files.write(nginx(port: port, root: files.path), to: "nginx.conf")
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        server.arguments = [
            "taskset", "-c", "0", "nginx", "-p", files.path, "-e", "error.log", "-c", "nginx.conf",
        ]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.run()
        defer {
            server.terminate()
            server.waitUntilExit()
        }
        guard isListening(on: port) else { stop("nginx does not start") }

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

    /// Waits up to ten seconds until a server accepts connections on 127.0.0.1 at `port`.
    private static func isListening(on port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        for _ in 0..<1_000 {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return true }
            usleep(10_000)
        }
        return false
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

    private static func nginx(port: UInt16, root: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events {}
        http {
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            sendfile on;
            server {
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate chain.pem;
                ssl_certificate_key key.pem;
                ssl_protocols TLSv1.3;
                ssl_session_tickets off;
                keepalive_requests 1000000000;
                root \(root);
                location /new { keepalive_timeout 0; return 200 "\(String(repeating: "x", count: 100))"; }
                location /kept { return 200 "\(String(repeating: "x", count: 100))"; }
                location /gigabyte {}
            }
        }
        """
    }
}
