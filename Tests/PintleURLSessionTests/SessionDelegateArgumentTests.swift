import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// The async method that Swift selects, by the type of the session and of the argument for `delegate`.
@Suite("Pinned sessions: the delegate of an asynchronous call")
struct SessionDelegateArgumentTests {
    enum Method: String, CaseIterable {
        case dataFor, dataFrom, uploadData, uploadFile, downloadFor, downloadFrom
    }

    private struct Fixture {
        let fixture: SessionFixture
        let server: LoopbackTLSServer
        let session: PinnedURLSession
        let url: URL

        init() throws {
            fixture = try SessionFixture()
            server = try fixture.server { .text($0.target) }
            session = URLSession.pinned(to: try fixture.policy())
            url = try server.address("path")
        }

        func request(for method: Method) -> URLRequest {
            var request = URLRequest(url: url)
            if method == .uploadData || method == .uploadFile { request.httpMethod = "POST" }
            return request
        }
    }

    private func withFile<Product>(_ body: (URL) async throws -> Product) async throws -> Product {
        let files = try TemporaryDirectory()
        try files.write("x", to: "file")
        return try await body(URL(fileURLWithPath: files.path(of: "file")))
    }

    private func content(_ file: URL) throws -> Data {
        defer { try? FileManager.default.removeItem(at: file) }
        return try Data(contentsOf: file)
    }

    @Test("The literal nil selects the pinned method through PinnedURLSession", arguments: Method.allCases)
    func literalNil(method: Method) async throws {
        let fixture = try Fixture()
        let (session, request, url) = (fixture.session, fixture.request(for: method), fixture.url)
        let data =
            switch method {
            case .dataFor: try await session.data(for: request, delegate: nil).0
            case .dataFrom: try await session.data(from: url, delegate: nil).0
            case .uploadData: try await session.upload(for: request, from: Data("x".utf8), delegate: nil).0
            case .uploadFile:
                try await withFile { try await session.upload(for: request, fromFile: $0, delegate: nil).0 }
            case .downloadFor: try content(try await session.download(for: request, delegate: nil).0)
            case .downloadFrom: try content(try await session.download(from: url, delegate: nil).0)
            }
        #expect(data == Data("/path".utf8))
    }

    @Test("The literal nil selects the pinned method through URLSession", arguments: Method.allCases)
    func literalNilOfTheSuperclass(method: Method) async throws {
        let fixture = try Fixture()
        let (session, request, url) = (fixture.session as URLSession, fixture.request(for: method), fixture.url)
        let data =
            switch method {
            case .dataFor: try await session.data(for: request, delegate: nil).0
            case .dataFrom: try await session.data(from: url, delegate: nil).0
            case .uploadData: try await session.upload(for: request, from: Data("x".utf8), delegate: nil).0
            case .uploadFile:
                try await withFile { try await session.upload(for: request, fromFile: $0, delegate: nil).0 }
            case .downloadFor: try content(try await session.download(for: request, delegate: nil).0)
            case .downloadFrom: try content(try await session.download(from: url, delegate: nil).0)
            }
        #expect(data == Data("/path".utf8))
    }

    @Test("A call with the literal nil still refuses a server with another key")
    func literalNilPins() async throws {
        let fixture = try Fixture()
        let session = URLSession.pinned(to: try fixture.fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: fixture.url, delegate: nil) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(fixture.server.requests.isEmpty)
    }

    @Test("The literal nil on Foundation's own session calls Foundation's method")
    func literalNilOfAStockSession() async throws {
        let server = try LoopbackTCPServer.http { .text($0.target) }
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/path"))
        #expect(try await session.data(from: url, delegate: nil).0 == Data("/path".utf8))
    }

    @Test("A delegate that is not optional gets its callbacks through either type", arguments: [true, false])
    func delegate(isConcrete: Bool) async throws {
        let fixture = try Fixture()
        let server = try fixture.fixture.server { _ in .redirect(to: "/again") }
        let url = try server.address()
        let delegates = [Recorder(redirects: { _ in nil }), Recorder(redirects: { _ in nil })]
        if isConcrete {
            _ = try await fixture.session.data(from: url, delegate: delegates[0])
            _ = try await (fixture.session as URLSession).data(from: url, delegate: delegates[1])
        } else {
            let erased: [any URLSessionTaskDelegate] = delegates
            _ = try await fixture.session.data(from: url, delegate: erased[0])
            _ = try await (fixture.session as URLSession).data(from: url, delegate: erased[1])
        }
        for delegate in delegates { #expect(delegate.events.first == "redirect 302") }
        #expect(server.requests.count == 2)
    }

    @Test(
        "An optional variable reaches Foundation's method, and the refusal names this cause", arguments: [true, false])
    func optional(isNil: Bool) async throws {
        let fixture = try Fixture()
        let delegate: (any URLSessionTaskDelegate)? = isNil ? nil : Recorder()
        for isSubclass in [true, false] {
            let error = await #expect(throws: URLError.self) {
                if isSubclass { return try await fixture.session.data(from: fixture.url, delegate: delegate) }
                return try await (fixture.session as URLSession).data(from: fixture.url, delegate: delegate)
            }
            #expect(error?.refusal == .stockLoader)
            #expect(error?.localizedDescription.contains("optional variable (unwrap it)") == true)
        }
        #expect(fixture.server.connectionCount == 0)
        // Unwrapped, as the hint says, the same call works.
        if let delegate {
            #expect(try await fixture.session.data(from: fixture.url, delegate: delegate).0 == Data("/path".utf8))
        } else {
            #expect(try await fixture.session.data(from: fixture.url).0 == Data("/path".utf8))
        }
    }
}
