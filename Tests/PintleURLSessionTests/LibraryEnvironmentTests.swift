import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// libcurl reads variables and files of the machine. Each test runs in a process of its own.
    // Excluded with a sanitizer, which ends a process in its own way and with its own status.
    @Suite(
        "Hostile peers: variables and files that libcurl reads",
        .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"))
    struct LibraryEnvironment {
        @Test("A session takes no credential, proxy or root from the machine's variables and files")
        func machine() async throws {
            let fixture = try SessionFixture()
            let server = try fixture.server()
            let elsewhere = try LoopbackTCPServer { $0.stall(seconds: 1) }
            let files = try TemporaryDirectory()
            for name in [".netrc", "_netrc", "netrc"] {
                try files.write(
                    "machine localhost login netrcuser password secret\ndefault login netrcuser password secret\n",
                    to: name)
            }
            try files.write("netrc\nproxy = http://127.0.0.1:\(elsewhere.port)\nheader = X-Curlrc: 1\n", to: ".curlrc")
            try files.write("localhost \"\"\n", to: ".curl-hsts")
            let variables = [
                "HOME": files.path, "CURL_HOME": files.path, "XDG_CONFIG_HOME": files.path,
                "NETRC": files.path(of: "netrc"),
                "ALL_PROXY": "http://127.0.0.1:\(elsewhere.port)", "https_proxy": "http://127.0.0.1:\(elsewhere.port)",
                "CURL_CA_BUNDLE": "/dev/null", "CURL_SSL_BACKEND": "none",
                "CURL_HSTS_FILE": files.path(of: ".curl-hsts"),
            ]
            let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
            let environment = variables.map { "\($0)=\($1)" }.sorted()
            await #expect(processExitsWith: .success) {
                [url = url as String, root = root as [UInt8], environment = environment as [String]] in
                for variable in environment {
                    let parts = variable.split(separator: "=", maxSplits: 1).map(String.init)
                    setenv(parts[0], parts[1], 1)
                }
                let policy = try PinningPolicy(
                    hosts: [try PinnedHost("localhost", pins: [Pin](), anchors: .only([try Certificate(der: root)]))])
                let configuration = URLSessionConfiguration.ephemeral
                configuration.connectionProxyDictionary = [:]
                let session = URLSession.pinned(to: policy, configuration: configuration)
                #expect(try await session.data(from: try #require(URL(string: url))).0.count == 3)
            }
            let request = try #require(server.requests.first)
            #expect(server.requests.count == 1 && elsewhere.connectionCount == 0)
            #expect(
                Set(request.fields.map { $0.name.lowercased() }).isSubset(of: [
                    "host", "user-agent", "accept", "accept-encoding",
                ]))
            // Control: the command curl finds the file and its credential with the same variables.
            try files.write(Array(fixture.root.certificate.der), to: "root.der")
            let control = variables.filter { !$0.key.contains("roxy") && !$0.key.contains("PROXY") }.map {
                "\($0)=\($1)"
            }
            _ = try runProcess(["env"] + control + ["curl", "--disable", "--netrc", "--insecure", "--silent", url])
            #expect(server.requests.last?["authorization"]?.hasPrefix("Basic ") == true)
        }
    }
}
