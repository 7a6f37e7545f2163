import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import PintleURLSession
import Testing

/// Real servers, in every style of task.
@Suite("Pinned sessions: real servers")
struct SessionPeerTests {
    @Test("nginx answers every style of task, and hears nothing of a wrong pin", arguments: ["", "http2"])
    func nginx(listening: String) async throws {
        let stage = try Stage()
        let nginx = try NginxServer(
            stage.identity, listening: listening,
            directives: #"location / { client_max_body_size 1m; return 200 "hello from $request_method"; }"#)
        let session = URLSession.pinned(to: try stage.policy())
        let request = URLRequest(url: try nginx.address())
        for style in TaskStyle.allCases {
            let answer = "hello from \(style.isUpload ? "PUT" : "GET")"
            #expect(try await style.run(on: session, request) == Data(answer.utf8), "\(style)")
        }
        let count = TaskStyle.allCases.count
        let lines = try await nginx.requests(atLeast: count)
        #expect(lines.count == count)
        #expect(lines.allSatisfy { $0.hasPrefix(listening.isEmpty ? "HTTP/1.1 " : "HTTP/2.0 ") })

        let bad = URLSession.pinned(to: try stage.policy(rightPin: false))
        for style in TaskStyle.allCases {
            let error = await #expect(throws: URLError.self) { try await style.run(on: bad, request) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch", "\(style)")
        }
        #expect(nginx.requests().count == count)
    }

    @Test("nginx takes an upload of 3 MB and gives it back", arguments: ["", "http2"])
    func nginxEcho(listening: String) async throws {
        let stage = try Stage()
        let nginx = try NginxServer(
            stage.identity, listening: listening,
            directives: """
                location / { client_max_body_size 8m; proxy_request_buffering off; proxy_pass https://127.0.0.1:1; }
                location /file { client_max_body_size 8m; }
                """)
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        try nginx.files.write(Array(content), to: "file")
        let session = URLSession.pinned(to: try stage.policy())
        #expect(try await session.data(from: try nginx.address("file")).0 == content)
        let (file, _) = try await session.download(from: try nginx.address("file"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == content)
        // Its answer, that there is nobody behind it, comes before it has read what is sent.
        var request = URLRequest(url: try nginx.address())
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, from: content)
        #expect((response as? HTTPURLResponse)?.statusCode == 502)
    }

    @Test("Connections that nginx ends after a few requests cost no request", arguments: ["", "http2"])
    func limitedConnections(listening: String) async throws {
        let stage = try Stage()
        let nginx = try NginxServer(
            stage.identity, listening: listening,
            directives: #"location / { keepalive_requests 5; return 200 "hello"; }"#)
        let session = URLSession.pinned(to: try stage.policy())
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
        // One that is forgotten comes with its time-out, a minute later.
        #expect(start.duration(to: .now) < .seconds(50))
    }

    @Test("openssl s_server answers what asks for a page", arguments: ["-tls1_2", "-tls1_3"])
    func sServer(version: String) async throws {
        let stage = try Stage()
        let server = try SServer(stage.identity, [version])
        let request = URLRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
        let session = URLSession.pinned(to: try stage.policy())
        for style in TaskStyle.allCases where !style.isUpload {
            let page = String(decoding: try await style.run(on: session, request), as: UTF8.self)
            #expect(page.contains("Ciphers"), "\(style)")
        }
        let bad = URLSession.pinned(to: try stage.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(for: request) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(try server.output(with: "alert").contains("alert certificate unknown"))
    }

    @Test(
        "A server that asks for the client's certificate is judged all the same, and says itself whether it minds",
        arguments: ["-verify", "-Verify"], ["-tls1_2", "-tls1_3"])
    func clientCertificate(wish: String, version: String) async throws {
        let stage = try Stage()
        let server = try SServer(stage.identity, [version, wish, "1"])
        let request = URLRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
        let session = URLSession.pinned(to: try stage.policy(), configuration: .ephemeral)
        if wish == "-verify" {
            #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self).contains("Ciphers"))
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            // It is the server that does not want this client.
            #expect(TrustRejection(underlying: try #require(error)) == nil && error?.refusal == nil)
        }
        let bad = URLSession.pinned(to: try stage.policy(rightPin: false), configuration: .ephemeral)
        let error = await #expect(throws: URLError.self) { try await bad.data(for: request) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
    }
}
