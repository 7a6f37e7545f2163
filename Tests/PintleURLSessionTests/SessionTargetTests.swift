import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

/// The path and query that a server gets, and the URL that the app sees.
@Suite("Pinned sessions: targets")
struct SessionTargetTests {
    @Test(
        "The path of the app's own URL is sent as written",
        arguments: ["/a/../b/./c?d=../e", "/..", "/a//b/", "/%2e%2e/a", "/a/.", "/plain", "/a%20b?c=%2F"])
    func written(target: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        _ = try await session.data(from: try server.address(String(target.dropFirst())))
        // libcurl 8 writes the digits of an escape in upper case, which means the same (RFC 3986 section 2.1).
        let sent = CurlLibrary.version.hasPrefix("8.") ? target.replacing("%2e", with: "%2E") : target
        #expect(server.requests.map(\.target) == [sent])
    }

    @Test(
        "The path of a redirect is resolved, whether it is relative or a whole URL",
        arguments: [("/a/../b/./c?d=../e", "/b/c?d=../e"), ("../e", "/e"), ("./e?f", "/x/e?f"), ("/plain", "/plain")],
        [true, false])
    func redirected(location: (String, String), isWhole: Bool) async throws {
        guard !isWhole || location.0.hasPrefix("/") else { return }
        let fixture = try SessionFixture()
        let target = try fixture.server()
        let server = try fixture.server { request in
            guard request.target == "/x/y/../z" else { return .ok }
            return .redirect(to: isWhole ? String(target.url(host: "localhost").dropLast()) + location.0 : location.0)
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let response = try await session.data(from: try server.address("x/y/../z")).1
        #expect((isWhole ? target : server).requests.last?.target == location.1)
        #expect(response.url?.absoluteString.hasSuffix(location.1) == true)
    }

    @Test(
        "A redirect without a fragment keeps that of the request's URL, and no fragment is sent",
        arguments: [
            ("/start#part", "/end", "#part"), ("/start#part", "/end#other", "#other"), ("/start", "/end", ""),
            ("/start#", "/end", "#"), ("/start?q#a%20b", "/end?r", "#a%20b"), ("/start#part", "/end#", "#"),
            ("/start#a", "/x/../end", "#a"),
        ])
    func fragment(start: String, end: String, fragment: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            request.target.hasPrefix("/start") ? .redirect(to: end) : .ok
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let response = try await session.data(from: try server.address(String(start.dropFirst()))).1
        #expect(response.url?.absoluteString.drop { $0 != "#" } ?? "" == fragment)
        #expect(server.requests.count == 2 && server.requests.allSatisfy { !$0.target.contains("#") })
    }

    @Test("A fragment goes along a chain of redirects and to another origin")
    func chain() async throws {
        let fixture = try SessionFixture()
        let other = try fixture.server { $0.target == "/one" ? .redirect(to: "/two") : .ok }
        let server = try fixture.server { _ in .redirect(to: other.url(host: "localhost") + "one") }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let response = try await session.data(from: try server.address("#part")).1
        #expect(response.url?.absoluteString == other.url(host: "localhost") + "two#part")
    }

    @Test("A cookie's path is compared with the path that is sent", arguments: ["a/../b", "b"])
    func cookiePath(path: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "c", .value: "d", .domain: "localhost", .path: "/b"]
        configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        _ = try await session.data(from: try server.address(path))
        #expect(server.requests.map { $0["cookie"] } == [path == "b" ? "c=d" : nil])
    }
}
