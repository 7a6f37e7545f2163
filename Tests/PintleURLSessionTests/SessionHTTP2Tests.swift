import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// nginx, which speaks HTTP/2, as most servers do.
@Suite("Pinned sessions: HTTP/2")
struct SessionHTTP2Tests {
    @Test("Many requests share one HTTP/2 connection, and a wrong pin sends none")
    func multiplexing() async throws {
        let stage = try Stage()
        let nginx = try NginxHTTP2(stage.identity)
        let session = URLSession.pinned(to: try stage.policy())
        _ = try await session.data(from: try nginx.address())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<32 {
                group.addTask { try await session.data(from: try nginx.address()).0.count }
            }
            for try await count in group { #expect(count == 1_000_000) }
        }
        let lines = try await nginx.log(lines: 33)
        #expect(lines.count == 33)
        #expect(lines.allSatisfy { $0.hasPrefix("HTTP/2.0 ") })
        #expect(Set(lines).count == 1, "one connection")

        let bad = URLSession.pinned(to: try stage.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(from: try nginx.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(try await nginx.log(lines: 33).count == 33)
    }
}

private final class NginxHTTP2: Sendable {
    private let port: UInt16
    private let files: TemporaryDirectory
    private let process: ChildProcess

    init(_ identity: Identity) throws {
        files = try TemporaryDirectory()
        try files.write(identity.chainPEM, to: "chain.pem")
        try files.write(identity.key.pem, to: "key.pem")
        try files.write(String(repeating: "x", count: 1_000_000), to: "index.html")
        for _ in 0..<5 {
            // Free when it is chosen; who loses the race for it tries another.
            let port = try LoopbackTCPServer { _ in }.port
            try files.write(Self.configuration(port: port, root: files.path), to: "nginx.conf")
            let process = try ChildProcess(
                ["nginx", "-p", files.path, "-e", "error.log", "-c", "nginx.conf"], outputFile: files.path(of: "output")
            )
            if process.waitUntilListening(on: port) {
                self.port = port
                self.process = process
                return
            }
        }
        throw URLError(.cannotConnectToHost)
    }

    func address() throws -> URL {
        guard let url = URL(string: "https://localhost:\(port)/") else { throw URLError(.badURL) }
        return url
    }

    /// Protocol and connection of each request that was answered, once there are so many: nginx writes
    /// them down after the answer.
    func log(lines count: Int) async throws -> [Substring] {
        var lines: [Substring] = []
        for _ in 0..<500 {
            lines = String(decoding: try files.read("access.log"), as: UTF8.self).split(separator: "\n")
            if lines.count >= count { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        return lines
    }

    private static func configuration(port: UInt16, root: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events {}
        http {
            log_format short "$server_protocol $connection";
            access_log access.log short;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate chain.pem;
                ssl_certificate_key key.pem;
                root \(root);
            }
        }
        """
    }
}
