package import PintleTestKit

/// nginx on a free loopback port, with one identity. Most apps talk to such a server.
package final class NginxServer: Sendable {
    package let port: UInt16
    /// The folder with the served files and the logs.
    package let files: TemporaryDirectory
    private let process: ChildProcess

    package struct NotStarted: Error {
        package let output: String
    }

    /// - Parameters:
    ///   - listening: parameters of the `listen` directive, such as `http2`.
    ///   - directives: further lines of the `server` block. Paths are relative to ``files``.
    package init(
        _ identity: Identity, protocols: String = "TLSv1.2 TLSv1.3", listening: String = "",
        directives: String = #"location / { return 200 "hello"; }"#, in files: TemporaryDirectory? = nil
    ) throws {
        self.files = try files ?? TemporaryDirectory()
        let files = self.files
        try files.write(identity.chainPEM, to: "chain.pem")
        try files.write(identity.key.pem, to: "key.pem")
        // Another process can take the free port before nginx does. Then try another port.
        for _ in 0..<5 {
            let port = try LoopbackTCPServer { _ in }.port
            let server = """
                listen 127.0.0.1:\(port) ssl \(listening);
                ssl_protocols \(protocols);
                root \(files.path);
                \(directives)
                """
            try files.write(Self.configuration(server), to: "nginx.conf")
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

    /// Returns the protocol and connection number of each request that nginx has answered so far: `HTTP/2.0 1`.
    package func requests() -> [String] {
        let log = (try? files.read("access.log")) ?? []
        return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func configuration(_ server: String) -> String {
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
            keepalive_timeout 1h;
            server {
                ssl_certificate chain.pem;
                ssl_certificate_key key.pem;
                \(server)
            }
        }
        """
    }
}
