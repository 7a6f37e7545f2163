import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// A pinned session has no cache, because a cached response would be used without a verdict.
@Suite("Pinned sessions: no cache")
struct SessionCacheTests {
    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil)
        return configuration
    }

    @Test(
        "A fresh response is loaded again, and the configuration's cache stays empty",
        arguments: [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad])
    func fresh(policy: URLRequest.CachePolicy) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server {
            let fields = [HTTPField("Cache-Control", "max-age=60")]
            return HTTPResponse(status: 200, reason: "OK", fields: fields, body: Array($0.target.utf8))
        }
        let configuration = configuration()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let request = URLRequest(url: try server.address("a"), cachePolicy: policy)
        for _ in 0..<2 { #expect(try await session.data(for: request).0 == Data("/a".utf8)) }
        #expect(server.requests.count == 2)
        #expect(session.configuration.urlCache == nil && configuration.urlCache?.currentMemoryUsage == 0)
    }

    @Test(
        "returnCacheDataDontLoad loads nothing, whether the request or its session sets it", arguments: [true, false])
    func unloaded(isRequests: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { .text($0.target) }
        let configuration = configuration()
        if !isRequests { configuration.requestCachePolicy = .returnCacheDataDontLoad }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        if isRequests { request.cachePolicy = .returnCacheDataDontLoad }
        let refused = request
        let error = await #expect(throws: URLError.self) { try await session.data(for: refused) }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.isAboutTrust == false)
        #expect(server.connectionCount == 0)
    }
}
