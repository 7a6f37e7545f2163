import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// The tables of the article about sessions, which claim to be complete.
@Suite("Pinned sessions: the tables")
struct SessionTableTests {
    private var article: String {
        get throws {
            var folder = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { folder.deleteLastPathComponent() }
            return try String(
                contentsOf: folder.appendingPathComponent("Sources/PintleURLSession/PintleURLSession.docc/Sessions.md"),
                encoding: .utf8)
        }
    }

    @Test("The article names each property of a configuration")
    func fields() throws {
        let article = try article
        let fields = Mirror(reflecting: URLSessionConfiguration.default).children.compactMap(\.label)
        #expect(fields.count >= 18)
        for field in fields { #expect(article.contains("`\(field)`"), "\(field)") }
    }

    @Test(
        "Cookies are kept according to the configuration's accept policy",
        arguments: [
            (.always, "https://b.example/", true), (.never, nil, false), (.onlyFromMainDocumentDomain, nil, true),
            (.onlyFromMainDocumentDomain, "https://LOCALHOST/", true),
            (.onlyFromMainDocumentDomain, "https://a.localhost/", true),
            (.onlyFromMainDocumentDomain, "https://alocalhost/", false),
            (.onlyFromMainDocumentDomain, "https://b.example/", false),
        ] as [(HTTPCookie.AcceptPolicy, String?, Bool)])
    func cookies(policy: HTTPCookie.AcceptPolicy, page: String?, isKept: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in
            HTTPResponse(status: 200, reason: "OK", fields: [HTTPField("Set-Cookie", "a=b; Path=/")])
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = policy
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        request.mainDocumentURL = page.flatMap { URL(string: $0) }
        for _ in 0..<2 { _ = try await session.data(for: request) }
        #expect(server.requests.map { $0["cookie"] } == [nil, isKept ? "a=b" : nil])
    }

    @Test("A reset empties cookies and credentials")
    func reset() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in
            HTTPResponse(status: 200, reason: "OK", fields: [HTTPField("Set-Cookie", "a=b; Path=/")])
        }
        let configuration = URLSessionConfiguration.ephemeral
        let space = URLProtectionSpace(
            host: "a.example", port: 443, protocol: "https", realm: nil, authenticationMethod: nil)
        configuration.urlCredentialStorage?.set(
            URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        _ = try await session.data(from: try server.address())
        await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
        _ = try await session.data(from: try server.address())
        #expect(server.requests.map { $0["cookie"] } == [nil, nil])
        #expect(configuration.urlCredentialStorage?.allCredentials.isEmpty == true)
    }
}
