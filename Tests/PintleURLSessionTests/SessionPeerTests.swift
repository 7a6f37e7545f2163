import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import PintleURLSession
import Testing

/// Real servers, in every style of task.
@Suite("Pinned sessions: real servers")
struct SessionPeerTests {
    @Test("nginx answers every style of task, and gets no byte with a wrong pin", arguments: ["", "http2"])
    func nginx(listening: String) async throws {
        let fixture = try SessionFixture()
        let nginx = try NginxServer(
            fixture.identity, listening: listening,
            directives: #"location / { client_max_body_size 1m; return 200 "hello from $request_method"; }"#)
        let session = URLSession.pinned(to: try fixture.policy())
        let request = URLRequest(url: try nginx.address())
        for style in TaskStyle.allCases {
            let answer = "hello from \(style.isUpload ? "PUT" : "GET")"
            #expect(try await style.run(on: session, request) == Data(answer.utf8), "\(style)")
        }
        let count = TaskStyle.allCases.count
        let lines = try await nginx.requests(atLeast: count)
        #expect(lines.count == count)
        #expect(lines.allSatisfy { $0.hasPrefix(listening.isEmpty ? "HTTP/1.1 " : "HTTP/2.0 ") })

        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false))
        for style in TaskStyle.allCases {
            let error = await #expect(throws: URLError.self) { try await style.run(on: bad, request) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch", "\(style)")
        }
        #expect(nginx.requests().count == count)
    }

    @Test("nginx accepts an upload of 3 MB and serves a download of 3 MB", arguments: ["", "http2"])
    func nginxEcho(listening: String) async throws {
        let fixture = try SessionFixture()
        let nginx = try NginxServer(
            fixture.identity, listening: listening,
            directives: """
                location / { client_max_body_size 8m; proxy_request_buffering off; proxy_pass https://127.0.0.1:1; }
                location /file { client_max_body_size 8m; }
                """)
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        try nginx.files.write(Array(content), to: "file")
        let session = URLSession.pinned(to: try fixture.policy())
        #expect(try await session.data(from: try nginx.address("file")).0 == content)
        let (file, _) = try await session.download(from: try nginx.address("file"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == content)
        // nginx has no backend here, and responds with 502 before it has read the upload.
        var request = URLRequest(url: try nginx.address())
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, from: content)
        #expect((response as? HTTPURLResponse)?.statusCode == 502)
    }

    @Test("No request fails when nginx closes connections after a few requests", arguments: ["", "http2"])
    func limitedConnections(listening: String) async throws {
        let fixture = try SessionFixture()
        let nginx = try NginxServer(
            fixture.identity, listening: listening,
            directives: #"location / { keepalive_requests 5; return 200 "hello"; }"#)
        let session = URLSession.pinned(to: try fixture.policy())
        let url = try nginx.address()
        for _ in 0..<20 { #expect(try await session.data(from: url).0.count == 5) }
        let start = ContinuousClock.now
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do { _ = try await session.data(from: url) } catch { return "\(error)" }
                    return nil
                }
            }
            for await failure in group { #expect(failure == nil) }
        }
        // A request that libcurl forgot would end only at its time-out, a minute later.
        #expect(start.duration(to: .now) < .seconds(50))
    }

    @Test("openssl s_server answers every style of task without an upload", arguments: ["-tls1_2", "-tls1_3"])
    func sServer(version: String) async throws {
        let fixture = try SessionFixture()
        let server = try SServer(fixture.identity, [version])
        let request = URLRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
        let session = URLSession.pinned(to: try fixture.policy())
        for style in TaskStyle.allCases where !style.isUpload {
            let page = String(decoding: try await style.run(on: session, request), as: UTF8.self)
            #expect(page.contains("Ciphers"), "\(style)")
        }
        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(for: request) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(try server.output(with: "alert").contains("alert certificate unknown"))
    }

    @Test(
        "A server that asks for a client certificate gets the usual verdict, and decides itself whether to refuse",
        arguments: ["-verify", "-Verify"], ["-tls1_2", "-tls1_3"])
    func clientCertificate(wish: String, version: String) async throws {
        let fixture = try SessionFixture()
        let server = try SServer(fixture.identity, [version, wish, "1"])
        let request = URLRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        if wish == "-verify" {
            #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self).contains("Ciphers"))
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            // The server refuses this client, not the other way round.
            #expect(TrustRejection(underlying: try #require(error)) == nil)
            #expect(error?.refusal == .clientCertificateRequired)
        }
        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false), configuration: .ephemeral)
        let error = await #expect(throws: URLError.self) { try await bad.data(for: request) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
    }
}
