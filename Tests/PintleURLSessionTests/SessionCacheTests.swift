import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Responses that the cache may provide, and responses that it must not.
@Suite("Pinned sessions: caching")
struct SessionCacheTests {
    private func server(_ fixture: SessionFixture, _ fields: [String]) throws -> LoopbackTLSServer {
        let fields = fields.map { field in
            let parts = field.split(separator: ":", maxSplits: 1).map(String.init)
            return HTTPField(parts[0], String(parts[1].dropFirst()))
        }
        return try fixture.server {
            HTTPResponse(status: 200, reason: "OK", fields: fields, body: Array($0.target.utf8))
        }
    }

    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil)
        return configuration
    }

    @Test(
        "A fresh response is used again, and every other one is loaded again",
        arguments: [
            (["Cache-Control: max-age=60"], 1), (["Cache-Control: private, Max-Age=\"60\""], 1),
            (["Cache-Control: max-age=99999999999999999999"], 1), (["Cache-Control: max-age=0"], 2),
            (["Cache-Control: max-age=-1"], 2), (["Cache-Control: max-age=60, no-store"], 2),
            (["Cache-Control: no-cache=\"Set-Cookie, x\", max-age=60"], 2), (["ETag: \"x\""], 2),
            (["Cache-Control: s-maxage=60"], 2), (["Expires: Fri, 31 Dec 2100 23:59:59 GMT"], 1), (["Expires: 0"], 2),
            (["Expires: Fri, 31 Dec 2100 23:59:59 GMT", "Cache-Control: max-age=0"], 2),
            (["Expires: Fri, 31 Dec 2100 23:59:59 GMT", "Date: Thu, 31 Dec 2099 23:59:59 GMT"], 1),
            (["Cache-Control: max-age=60", "Age: 61"], 2), (["Cache-Control: max-age=60", "Age: 5"], 1),
            (["Cache-Control: max-age=60", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], 2),
            (["Cache-Control: max-age=60", "Vary: Cookie"], 2),
            (["Cache-Control: max-age=60", "Vary: Accept-Encoding"], 1),
        ])
    func freshness(fields: [String], requests: Int) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, fields)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        for _ in 0..<2 {
            let (data, response) = try await session.data(from: try server.address("a?b=c"))
            #expect(data == Data("/a?b=c".utf8))
            #expect(response.trustReceipt?.matchedPin != nil)
        }
        #expect(server.requests.count == requests)
        // Foundation's own look-up ignores the query.
        #expect(try await session.data(from: try server.address("a?b=d")).0 == Data("/a?b=d".utf8))
    }

    @Test(
        "The request's cache policy applies, or else the session's",
        arguments: [URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadRevalidatingCacheData], [true, false])
    func reloading(policy: URLRequest.CachePolicy, isRequests: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let configuration = configuration()
        if !isRequests { configuration.requestCachePolicy = policy }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        if isRequests { request.cachePolicy = policy }
        for _ in 0..<2 { _ = try await session.data(for: request) }
        #expect(server.requests.count == 2)
    }

    @Test(
        "A stale response is used if the policy asks for it, and returnCacheDataDontLoad loads nothing",
        arguments: [true, false])
    func stale(loads: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["ETag: \"x\""])
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        var request = URLRequest(url: try server.address())
        request.cachePolicy = .returnCacheDataDontLoad
        let early = request
        let error = await #expect(throws: URLError.self) { try await session.data(for: early) }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.isAboutTrust == false)
        #expect(server.connectionCount == 0)
        request.cachePolicy = .returnCacheDataElseLoad
        _ = try await session.data(for: request)
        if !loads { request.cachePolicy = .returnCacheDataDontLoad }
        #expect(try await session.data(for: request).0 == Data("/".utf8))
        #expect(server.requests.count == 1)
    }

    @Test("A response that was stored under another policy is not used", arguments: [true, false])
    func generation(rightPin: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy, configuration: configuration())
        var request = URLRequest(url: try server.address())
        request.cachePolicy = .returnCacheDataElseLoad
        let ready = request
        for _ in 0..<2 { _ = try await session.data(for: ready) }
        #expect(server.requests.count == 1)
        policy.replace(with: try fixture.policy(rightPin: rightPin))
        if rightPin {
            #expect(try await session.data(for: ready).1.trustReceipt?.generation == 2)
            #expect(server.requests.count == 2)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(for: ready) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        }
    }

    @Test(
        "A response is not used after the clock was set back to before it came", arguments: [-3_600.0, 1],
        [true, false])
    func clock(seconds: Double, wantsFresh: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let session = PinnedURLSession(
            source: LivePolicy(try fixture.policy()), configuration: configuration(), delegate: nil, delegateQueue: nil)
        let request = URLRequest(url: try server.address())
        _ = try await session.data(for: request)
        let answer = session.resources.cache.answer(
            to: request, in: try session.resources.transports.transport().generation, wantsFresh: wantsFresh,
            at: Date().addingTimeInterval(seconds))
        #expect((answer == nil) == (seconds < 0))
    }

    @Test("A response that other code put into the cache is not used", arguments: ["planted", "another session's"])
    func foreign(kind: String) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let configuration = configuration()
        var request = URLRequest(url: try server.address())
        request.cachePolicy = .returnCacheDataElseLoad
        let ready = request
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        _ = try await session.data(for: ready)
        if kind == "planted" {
            let response = try #require(
                HTTPURLResponse(
                    url: try server.address(), statusCode: 200, httpVersion: nil,
                    headerFields: ["Cache-Control": "max-age=60"]))
            configuration.urlCache?.removeCachedResponse(for: request)
            configuration.urlCache?.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("forged".utf8)), for: request)
        } else {
            let other = URLSession.pinned(to: try fixture.unpinned(), configuration: configuration)
            _ = try await other.data(for: ready)
        }
        #expect(try await session.data(for: ready).0 == Data("/".utf8))
        #expect(server.requests.count == (kind == "planted" ? 2 : 3))
    }

    @Test(
        "The delegate decides what is stored, and a cached response causes the same callbacks in the same order",
        arguments: [true, false])
    func delegate(caches: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let delegate = RecordingDelegate(caches: caches)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration(), delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.events == ["response 200", "data", "cache", "complete"])
        #expect(delegate.log.withLock { $0.proposals.first?.data } == Data("/".utf8))
        #expect(delegate.log.withLock { $0.proposals.first?.storagePolicy } == .allowedInMemoryOnly)
        await session.run(delegate, try server.address())
        #expect(
            delegate.events.suffix(3)
                == (caches ? ["response 200", "data", "complete"] : ["data", "cache", "complete"]))
        #expect(delegate.log.withLock { $0.data } == Data("//".utf8))
        #expect(server.requests.count == (caches ? 1 : 2))
    }

    @Test(
        "Requests for one user or for a part of a resource bypass the cache",
        arguments: ["Authorization", "Range", "If-None-Match", "session's Authorization", "none"])
    func selective(field: String) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let configuration = configuration()
        if field.hasPrefix("session") { configuration.httpAdditionalHeaders = ["authorization": "Bearer x"] }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        if !field.hasPrefix("session"), field != "none" { request.setValue("x", forHTTPHeaderField: field) }
        for _ in 0..<2 { _ = try await session.data(for: request) }
        #expect(server.requests.count == (field == "none" ? 1 : 2))
    }

    @Test("A request that changes the content removes the stored response", arguments: ["POST", "HEAD"])
    func change(method: String) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        var request = URLRequest(url: try server.address())
        _ = try await session.data(for: request)
        request.httpMethod = method
        _ = try await session.data(for: request)
        request.httpMethod = "GET"
        _ = try await session.data(for: request)
        #expect(server.requests.count == (method == "POST" ? 3 : 2))
    }

    @Test("A changing request that is redirected also removes the stored response", arguments: ["POST", "HEAD"])
    func redirectedChange(method: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            let isRead = request.method == "GET" || request.target == "/done"
            return HTTPResponse(
                status: isRead ? 200 : 303, reason: "OK",
                fields: [isRead ? HTTPField("Cache-Control", "max-age=60") : HTTPField("Location", "/done")],
                body: isRead ? [0x78] : [])
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        var request = URLRequest(url: try server.address("cart"))
        _ = try await session.data(for: request)
        request.httpMethod = method
        _ = try await session.data(for: request)
        request.httpMethod = "GET"
        _ = try await session.data(for: request)
        #expect(server.requests.map(\.target) == ["/cart", "/cart", "/done"] + (method == "POST" ? ["/cart"] : []))
    }

    @Test(
        "A request without caching bypasses the cache, whether it or its session sets the field",
        arguments: [("no-store", 2), ("no-cache", 2), ("Max-Age=0", 2), ("max-age=60", 1)], [true, false])
    func control(value: (String, Int), isRequests: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let configuration = configuration()
        if !isRequests { configuration.httpAdditionalHeaders = ["cache-control": value.0] }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        if isRequests { request.setValue(value.0, forHTTPHeaderField: "Cache-Control") }
        for _ in 0..<2 { _ = try await session.data(for: request) }
        #expect(server.requests.count == value.1)
        #expect(server.requests.first?["cache-control"] == value.0)
    }

    @Test(
        "A response that varies by Accept-Encoding is used only for the same value",
        arguments: [
            ("Vary: Accept-Encoding", "br", "br", 1), ("Vary: Accept-Encoding", "br", "gzip", 2),
            ("Vary: Accept-Encoding", "br", nil, 2), ("Vary: Accept-Encoding", nil, nil, 1),
            ("X-A: b", "br", "gzip", 1),
            ("Vary: *", "br", "br", 2), ("Vary: Accept-Encoding, Cookie", "br", "br", 2),
        ] as [(String, String?, String?, Int)])
    func codings(field: String, first: String?, second: String?, requests: Int) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60", field])
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        for codings in [first, second] {
            var request = URLRequest(url: try server.address())
            request.setValue(codings, forHTTPHeaderField: "Accept-Encoding")
            _ = try await session.data(for: request)
        }
        #expect(server.requests.count == requests)
    }

    @Test("A session that sets Accept-Encoding for all its requests still caches", arguments: [true, false])
    func sessionCodings(varies: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(
            fixture, ["Cache-Control: max-age=60"] + (varies ? ["Vary: Accept-Encoding"] : []))
        let configuration = configuration()
        configuration.httpAdditionalHeaders = ["accept-encoding": "br;q=1.0, gzip;q=0.9"]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        for _ in 0..<2 { _ = try await session.data(from: try server.address()) }
        #expect(server.requests.map { $0["accept-encoding"] } == ["br;q=1.0, gzip;q=0.9"])
    }

    @Test("The delegate of an async call gets the same callbacks from the cache")
    func asyncDelegate() async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration())
        for _ in 0..<2 {
            let delegate = RecordingDelegate()
            _ = try await session.data(from: try server.address(), delegate: delegate)
            await withCheckedContinuation { continuation in
                session.delegateQueue.addOperation { continuation.resume() }
            }
            #expect(delegate.events == ["response 200", "data"])
        }
        #expect(server.requests.count == 1)
    }

    @Test(
        "Responses to two queries of one path are kept separately, and the app can remove them",
        arguments: [true, false])
    func queries(isRemoved: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, ["Cache-Control: max-age=60"])
        let configuration = configuration()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let paths = ["a?b=1", "a?b=2", "a", "a?b=1", "a?b=2", "a"]
        for path in paths {
            #expect(try await session.data(from: try server.address(path)).0 == Data("/\(path)".utf8))
        }
        #expect(server.requests.count == 3)
        if isRemoved { configuration.urlCache?.removeCachedResponse(for: URLRequest(url: try server.address("a?b=1"))) }
        #expect(try await session.data(from: try server.address("a?b=1")).0 == Data("/a?b=1".utf8))
        #expect(server.requests.count == (isRemoved ? 4 : 3))
        // The app removed this response, so the cache no longer has it in any place.
        guard isRemoved, let cache = configuration.urlCache else { return }
        for path in ["a?b=1", "a?b=2", "a"] {
            cache.removeCachedResponse(for: URLRequest(url: try server.address(path)))
            var request = URLRequest(url: try server.address(path), cachePolicy: .returnCacheDataDontLoad)
            request.timeoutInterval = 5
            await #expect(throws: URLError.self) { try await session.data(for: request) }
        }
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test("A full cache removes entries, and large responses are not stored")
    func capacity() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            HTTPResponse(
                status: 200, reason: "OK", fields: [HTTPField("Cache-Control", "max-age=60")],
                body: [UInt8](repeating: 0x78, count: request.target == "/large" ? 5_001 : 4_900))
        }
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration(), delegate: delegate)
        // Repeats the same paths with different queries, which Foundation's look-up treats as one.
        for round in 0..<60 { _ = try await session.data(from: try server.address("\(round % 25)?\(round)")) }
        for _ in 0..<2 { _ = try await session.data(from: try server.address("large")) }
        await session.run(delegate, try server.address("large"))
        #expect(server.requests.count == 63)
        #expect(delegate.log.withLock { $0.proposals.isEmpty })
    }

    @Test("Directives are parsed according to RFC 9111")
    func directives() {
        let directives = CacheDirectives(["Max-Age = \"60\" , private=\"a, no-store\"", ",no-cache,max-age=1,=x"])
        #expect(directives.values == ["max-age": "60", "private": "a, no-store", "no-cache": ""])
        #expect(directives.seconds("max-age") == 60)
        #expect(CacheDirectives(["max-age"]).seconds("max-age") == 0)
        #expect(CacheDirectives(["max-age=99999999999999999999"]).seconds("max-age") == 1 << 31)
    }
}
