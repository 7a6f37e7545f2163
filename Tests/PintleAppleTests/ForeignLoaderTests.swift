import Foundation
import Pintle
import PintleReports
import PintleTestKit
import Testing

@testable import PintleEvents
@testable import PintleURLSession

/// URLProtocol classes that debugging tools put into every configuration, and that carry requests past the pins.
@Suite("Apple: loaders in a configuration")
struct ForeignLoaderTests {
    @Test("A URLProtocol in the configuration carries no request of a pinned session, and an event names it")
    func removed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .ok }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self] + (configuration.protocolClasses ?? [])
        let log = EventLog()
        let session = URLSession.pinned(
            to: try fixture.policy(rightPin: false), configuration: configuration, observer: log)
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        let name = String(reflecting: Carrier.self)
        #expect(session.removedProtocols == [name])
        #expect(session.current.configuration.protocolClasses?.isEmpty == true)
        await TrustEventFeed.shared.waitForEvents()
        let event = try #require(log.events.first)
        #expect(event.kind == .foreignProtocol && event.classes == [name] && log.events.count == 1)
        #expect(TrustEvent.session(event).level == .warning)
        // The caller's own configuration is unchanged, and its URLProtocol carries the request past every check.
        #expect(configuration.protocolClasses?.first == Carrier.self)
        let stock = URLSession(configuration: configuration)
        #expect(try await stock.data(from: try server.address()).0 == Data("carried".utf8))
        session.invalidateAndCancel()
    }

    @Test("The system's own URLProtocol classes cause no event", arguments: [nil, true, false] as [Bool?])
    func standard(hasSystemClasses: Bool?) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.default
        if hasSystemClasses == false { configuration.protocolClasses = [] }
        if hasSystemClasses == nil { configuration.protocolClasses = nil }
        let log = EventLog()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, observer: log)
        #expect(try await session.data(from: try server.address()).0.count == 3)
        await TrustEventFeed.shared.waitForEvents()
        #expect(session.removedProtocols.isEmpty && log.events.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("A URLProtocol that a tool also puts into the cleared copy is an error, and a removed one is a warning")
    func unresolved() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self]
        let cleared = URLSessionConfiguration.ephemeral
        cleared.protocolClasses = []
        // A replaced getter changes the copy in the same way as the caller's configuration.
        for (copy, isResolved) in [(configuration, false), (cleared, true)] {
            let log = EventLog()
            ForeignProtocols(in: configuration, removedFrom: copy).report(to: log)
            await TrustEventFeed.shared.waitForEvents()
            let event = try #require(log.events.first)
            #expect(event.isResolved == isResolved && event.kind == .foreignProtocol && log.events.count == 1)
            #expect(event.classes == [String(reflecting: Carrier.self)])
            #expect(TrustEvent.session(event).level == (isResolved ? .warning : .error))
        }
    }

    @Test("The session after a policy change has no such URLProtocol either")
    func replaced() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Carrier.self]
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy, configuration: configuration)
        let data = try await session.data(from: try server.address()).0
        #expect(data.count == 3 && data != Data("carried".utf8))
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(session.current.configuration.protocolClasses?.isEmpty == true)
        #expect(session.sessionConfiguration.protocolClasses?.isEmpty == true)
        #expect(server.requests.count == 1)
        session.invalidateAndCancel()
    }
}

/// A URLProtocol that answers each request itself.
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

private final class EventLog: TrustEventObserver {
    private let state = Locked<[SessionEvent]>([])

    var events: [SessionEvent] { state.withLock { $0 } }

    func observe(_ event: TrustEvent) {
        guard case .session(let event) = event else { return }
        state.withLock { $0.append(event) }
    }
}
