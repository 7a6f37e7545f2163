import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// What the article about sessions promises to be complete.
@Suite("Pinned sessions: the tables")
struct SessionTableTests {
    private var article: String {
        get throws {
            var folder = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { folder.deleteLastPathComponent() }
            return try String(
                contentsOf: folder.appendingPathComponent("Sources/Pintle/Pintle.docc/Sessions.md"), encoding: .utf8)
        }
    }

    @Test("Each field of a configuration has its place")
    func fields() throws {
        let article = try article
        let fields = Mirror(reflecting: URLSessionConfiguration.default).children.compactMap(\.label)
        #expect(fields.count >= 18)
        for field in fields { #expect(article.contains("`\(field)`"), "\(field)") }
    }

    @Test("A reset empties cookies, cache and credentials")
    func reset() async throws {
        let stage = try Stage()
        let server = try stage.server { _ in
            HTTPResponse(
                status: 200, reason: "OK",
                fields: [HTTPField("Set-Cookie", "a=b; Path=/"), HTTPField("Cache-Control", "max-age=60")])
        }
        let configuration = URLSessionConfiguration.ephemeral
        let space = URLProtectionSpace(
            host: "a.example", port: 443, protocol: "https", realm: nil, authenticationMethod: nil)
        configuration.urlCredentialStorage?.set(
            URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        let session = URLSession.pinned(to: try stage.policy(), configuration: configuration)
        _ = try await session.data(from: try server.address())
        await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
        _ = try await session.data(from: try server.address())
        #expect(server.requests.map { $0["cookie"] } == [nil, nil])
        #expect(configuration.urlCredentialStorage?.allCredentials.isEmpty == true)
    }
}
