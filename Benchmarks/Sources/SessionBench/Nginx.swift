import Foundation
import Glibc

/// An nginx on the first processor.
final class Nginx {
    /// A shell that ends nginx as soon as its input ends. So no nginx is left over when this process is killed.
    private static let script = "taskset -c 0 nginx -p \"$0\" -e error.log -c nginx.conf & read -r _; kill $!; wait"

    private let shell = Process()
    private let input = Pipe()

    /// Starts nginx and waits until it accepts connections on `port`.
    init(configuration: String, files: Files, port: UInt16) throws {
        try files.write(configuration, to: "nginx.conf")
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", Self.script, files.path]
        shell.standardInput = input
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        guard Self.isListening(on: port) else {
            end()
            stop("nginx does not start")
        }
    }

    func end() {
        try? input.fileHandleForWriting.close()
        shell.waitUntilExit()
    }

    /// The folders for which nginx would otherwise need permissions, and its limits.
    static func configuration(_ servers: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events { worker_connections 8192; }
        http {
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            sendfile on;
            ssl_certificate chain.pem;
            ssl_certificate_key key.pem;
            ssl_protocols TLSv1.3;
            ssl_session_tickets off;
            keepalive_requests 1000000000;
        \(servers)
        }
        """
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
}
