import Glibc
import PintleTestKit

/// nginx on a free port of loopback, with one identity: the server that most apps talk to.
final class NginxServer {
    let port: UInt16
    private let files: TemporaryDirectory
    private let process: ChildProcess

    struct NotStarted: Error {
        let output: String
    }

    init(_ identity: Identity, protocols: String = "TLSv1.2 TLSv1.3") throws {
        files = try TemporaryDirectory()
        try files.write(identity.chainPEM, to: "chain.pem")
        try files.write(identity.key.pem, to: "key.pem")
        // The port is free when it is chosen; who loses the race for it tries another.
        for _ in 0..<5 {
            let port = try unusedPort()
            try files.write(Self.configuration(port: port, protocols: protocols), to: "nginx.conf")
            let process = try ChildProcess(
                ["nginx", "-p", files.path, "-e", "error.log", "-c", "nginx.conf"], outputFile: files.path(of: "output")
            )
            if process.waitUntilListening(on: port) {
                self.port = port
                self.process = process
                return
            }
        }
        throw NotStarted(output: String(decoding: (try? files.read("error.log")) ?? [], as: UTF8.self))
    }

    /// The requests that nginx has answered so far.
    func requestCount() throws -> Int {
        (try? files.read("access.log"))?.count { $0 == UInt8(ascii: "\n") } ?? 0
    }

    private static func configuration(port: UInt16, protocols: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events {}
        http {
            access_log access.log;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate chain.pem;
                ssl_certificate_key key.pem;
                ssl_protocols \(protocols);
                location / { return 200 "hello"; }
            }
        }
        """
    }
}
