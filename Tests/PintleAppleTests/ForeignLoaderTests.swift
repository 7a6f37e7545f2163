import Foundation
import Pintle
import PintleReports
import PintleTestKit
import Security
import Testing

@testable import PintleURLSession

/// Loaders that debugging tools put into every configuration, and that carry requests past the pins.
@Suite("Apple: loaders in a configuration")
struct ForeignLoaderTests {
    @Test("A loader in the configuration carries no request of a pinned session, and an event names it")
    func removed() async throws {
        let stage = try Stage()
        let server = try stage.server { _ in .ok }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self] + (configuration.protocolClasses ?? [])
        let log = EventLog()
        let session = URLSession.pinned(
            to: try stage.policy(rightPin: false), configuration: configuration, observer: log)
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        let name = String(reflecting: Carrier.self)
        #expect(session.removedProtocols == [name])
        #expect(session.current.configuration.protocolClasses?.isEmpty == true)
        await TrustFailureFeed.shared.settle()
        let trouble = try #require(log.troubles.first)
        #expect(trouble.kind == .foreignProtocol && trouble.classes == [name] && log.troubles.count == 1)
        #expect(TrustFailureEvent.session(trouble).level == .warning)
        // The caller's own stays as it is, and carries the request past every check.
        #expect(configuration.protocolClasses?.first == Carrier.self)
        let stock = URLSession(configuration: configuration)
        #expect(try await stock.data(from: try server.address()).0 == Data("carried".utf8))
        session.invalidateAndCancel()
    }

    @Test("The classes that the system puts there are no alarm", arguments: [nil, true, false] as [Bool?])
    func standard(hasSystemClasses: Bool?) async throws {
        let stage = try Stage()
        let server = try stage.server()
        let configuration = URLSessionConfiguration.default
        if hasSystemClasses == false { configuration.protocolClasses = [] }
        if hasSystemClasses == nil { configuration.protocolClasses = nil }
        let log = EventLog()
        let session = URLSession.pinned(to: try stage.policy(), configuration: configuration, observer: log)
        #expect(try await session.data(from: try server.address()).0.count == 3)
        await TrustFailureFeed.shared.settle()
        #expect(session.removedProtocols.isEmpty && log.troubles.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("A loader that a tool puts into the cleared copy too is an error of the session, and a removed one a warning")
    func unresolved() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self]
        let cleared = URLSessionConfiguration.ephemeral
        cleared.protocolClasses = []
        // A replaced getter answers for the copy as it does for the caller's configuration.
        for (copy, isResolved) in [(configuration, false), (cleared, true)] {
            let log = EventLog()
            ForeignProtocols(in: configuration, removedFrom: copy).report(to: log)
            await TrustFailureFeed.shared.settle()
            let trouble = try #require(log.troubles.first)
            #expect(trouble.isResolved == isResolved && trouble.kind == .foreignProtocol && log.troubles.count == 1)
            #expect(trouble.classes == [String(reflecting: Carrier.self)])
            #expect(TrustFailureEvent.session(trouble).level == (isResolved ? .warning : .error))
        }
    }

    @Test("A session after a change of the policy has no such loader either")
    func replaced() async throws {
        let stage = try Stage()
        let server = try stage.server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self]
        let policy = LivePolicy(try stage.policy())
        let session = URLSession.pinned(to: policy, configuration: configuration)
        let data = try await session.data(from: try server.address()).0
        #expect(data.count == 3 && data != Data("carried".utf8))
        policy.replace(with: try stage.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(session.current.configuration.protocolClasses?.isEmpty == true)
        #expect(session.sessionConfiguration.protocolClasses?.isEmpty == true)
        #expect(server.requests.count == 1)
        session.invalidateAndCancel()
    }
}

/// Answers each request itself.
private final class Carrier: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("carried".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

private final class EventLog: TrustFailureObserver {
    private let state = Locked<[SessionTrouble]>([])

    var troubles: [SessionTrouble] { state.withLock { $0 } }

    func observe(_ event: TrustFailureEvent) {
        guard case .session(let trouble) = event else { return }
        state.withLock { $0.append(trouble) }
    }
}
