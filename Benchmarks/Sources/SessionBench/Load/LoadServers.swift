import Foundation
import PintleTestKit

/// The servers of section G: an nginx with both versions of HTTP, and the slow host.
final class LoadServers {
    enum Version: String, CaseIterable {
        case http1
        case http2

        var title: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
    }

    /// The sizes of content that nginx has, in bytes.
    static let sizes = [100, 65_536]

    let files: Files
    private let nginx: Nginx
    private let slow: LoopbackTLSServer
    private let ports: [Version: UInt16]

    init() throws {
        files = try Files()
        let identity = try files.writeIdentity()
        for size in Self.sizes { try files.write([UInt8](repeating: 120, count: size), to: "\(size)") }
        slow = try SlowHost.start(identity)
        // Free ports: servers on them were just closed.
        let closed = try Version.allCases.map { _ in try LoopbackTLSServer(identity) }
        ports = Dictionary(uniqueKeysWithValues: zip(Version.allCases, closed.map(\.port)))
        for server in closed { server.close() }
        nginx = try Nginx(
            configuration: Self.configuration(ports, root: files.path), files: files, port: ports[.http2] ?? 0)
    }

    func url(_ version: Version, size: Int) -> String { "https://localhost:\(ports[version] ?? 0)/\(size)" }

    var slowURL: String { slow.url() }

    func end() {
        nginx.end()
        slow.close()
        files.remove()
    }

    private static func configuration(_ ports: [Version: UInt16], root: String) -> String {
        // A client that starts 256 streams at once must not exceed the limit of nginx. Without a date and a tag, no
        // client caches the content.
        let answers = """
            root \(root);
            etag off;
            add_header Last-Modified "";
            location = /100 { return 200 "\(String(repeating: "x", count: 100))"; }
            """
        return Nginx.configuration(
            """
            keepalive_timeout 600;
            open_file_cache max=10;
            http2_max_concurrent_streams 256;
            server { listen 127.0.0.1:\(ports[.http1] ?? 0) ssl; \(answers) }
            server { listen 127.0.0.1:\(ports[.http2] ?? 0) ssl http2; \(answers) }
            """)
    }
}
