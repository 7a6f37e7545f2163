import Foundation
import FoundationNetworking
import PintleAttacks
import PintleOpenSSL
import PintleReports
import PintleTestKit
import Synchronization
import Testing

@testable import PintleEvents
@testable import PintleSuffixes
@testable import PintleURLSession

/// The checks between a connection and a request, in addition to the verdict itself.
@Suite("Pinned sessions: gates")
struct SessionGateTests {
    @Test("A connection without a receipt carries no request, whatever the verifier said")
    func secondGate() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        var options = CurlTransport.Options()
        #expect(
            try await URLSession.pinned(to: try fixture.policy(), options: options).data(from: try server.address())
                .0.count == 3)
        let before = server.requestByteCount

        options.receipts = .missing
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.policy(), options: options).data(from: try server.address())
        }
        #expect(error?.refusal == .notJudged)
        #expect(server.waitUntilClosed(connections: 2))
        #expect(server.completedHandshakeCount == 2)
        #expect(server.requestByteCount == before)
    }

    @Test("A kept connection whose receipt has expired is replaced by a new one")
    func receiptOver() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let isLate = Mutex(false)
        let options = CurlTransport.Options(now: { isLate.withLock { $0 } ? .distantFuture : Date() })
        let session = URLSession.pinned(to: try fixture.policy(), options: options)
        _ = try await session.data(from: try server.address())
        _ = try await session.data(from: try server.address())
        #expect(server.completedHandshakeCount == 1)

        isLate.withLock { $0 = true }
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        // By that clock the receipt of the new connection has expired too.
        #expect(error?.refusal == .notJudged)
        #expect(server.waitUntilClosed(connections: 2))
        #expect(server.completedHandshakeCount == 2)
        #expect(server.requests.count == 2)

        isLate.withLock { $0 = false }
        #expect(try await session.data(from: try server.address()).0.count == 3)
        #expect(server.requests.count == 3)
    }

    @Test("Requests are sent until the end of a certificate's last second", arguments: [0.5, 1.5])
    func lastSecond(seconds: Double) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let notAfter = try Certificate(der: fixture.identity.certificate.der).validity.notAfter
        let options = CurlTransport.Options(now: { notAfter + seconds })
        let session = URLSession.pinned(to: try fixture.policy(), options: options)
        if seconds < 1 {
            #expect(try await session.data(from: try server.address()).0.count == 3)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.refusal == .notJudged)
            #expect(server.requestByteCount == 0)
        }
    }

    @Test("A kept connection is not used at a time before its certificate is valid", arguments: [0.0, 1.0])
    func clockSetBack(days: Double) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let back = Mutex(0.0)
        let options = CurlTransport.Options(now: { Date() - back.withLock { $0 } })
        let session = URLSession.pinned(to: try fixture.policy(), options: options)
        _ = try await session.data(from: try server.address())
        let notBefore = try Certificate(der: fixture.identity.certificate.der).validity.notBefore
        back.withLock { $0 = days * (Date().timeIntervalSince(notBefore) + 60) }
        if days == 0 {
            #expect(try await session.data(from: try server.address()).0.count == 3)
            #expect(server.requests.count == 2)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.refusal == .notJudged)
            #expect(server.requests.count == 1)
        }
    }

    @Test("A session reports a clock that is more than 400 days past the release's date", arguments: [399.0, 401])
    func suspiciousClock(days: Double) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let foreign = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)))
        let policy = try PinningPolicy(
            hosts: [
                try PinnedHost(
                    "localhost", pins: [foreign], backup: .noneAccepted, expiry: .systemTrust(after: Date() - 60),
                    anchors: .only([try Certificate(der: fixture.root.certificate.der)]))
            ])
        let session = URLSession.pinned(to: LivePolicy(policy, releaseDate: Date() - days * 86_400))
        let basis = try await session.data(from: try server.address()).1.trustReceipt?.basis
        guard case .pinsExpired(let expiration) = basis else {
            Issue.record("\(String(describing: basis))")
            return
        }
        #expect(expiration.isClockSuspicious == (days > 400))
    }

    @Test("Expired pins apply again to a kept connection when the clock is set back", arguments: [true, false])
    func clockSetBackBeforeExpiry(isSetBack: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let foreign = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)))
        let policy = try PinningPolicy(
            hosts: [
                try PinnedHost(
                    "localhost", pins: [foreign], backup: .noneAccepted, expiry: .systemTrust(after: Date() - 60),
                    anchors: .only([try Certificate(der: fixture.root.certificate.der)]))
            ])
        let back = Mutex(0.0)
        let options = CurlTransport.Options(now: { Date() - back.withLock { $0 } })
        let session = URLSession.pinned(to: policy, options: options)
        #expect(try await session.data(from: try server.address()).1.trustReceipt?.basis.reason == "pins-expired")
        back.withLock { $0 = isSetBack ? 120 : 0 }
        if isSetBack {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.refusal == .notJudged)
        } else {
            #expect(try await session.data(from: try server.address()).0.count == 3)
        }
        #expect(server.requests.count == (isSetBack ? 1 : 2))
    }

    @Test("The inherited shared session has no policy, and loads nothing")
    func shared() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let type: URLSession.Type = PinnedURLSession.self
        let url = try server.address()
        let error = await #expect(throws: URLError.self) { try await type.shared.data(from: url) }
        #expect(error?.refusal == .unsupportedFeature)
        #expect(server.connectionCount == 0)
        #expect(try await URLSession.pinned(to: try fixture.policy()).data(from: url).0.count == 3)
    }

    @Test("Calls that reach Foundation's own loader are refused, and the server gets no connection")
    func stockLoader() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session: URLSession = .pinned(to: try fixture.policy())
        let url = try server.address()
        let request = URLRequest(url: url)
        // With the parameter written as an optional these calls select Foundation's own methods, as in a module that
        // does not import PintleURLSession.
        let noDelegate: (any URLSessionTaskDelegate)? = nil
        let data = await #expect(throws: (any Error).self) { try await session.data(from: url, delegate: noDelegate) }
        #expect(data.flatMap(SessionError.Code.init(in:)) == .stockLoader)
        let upload = await #expect(throws: (any Error).self) {
            try await session.upload(for: request, from: Data("x".utf8), delegate: noDelegate)
        }
        #expect(upload.flatMap(SessionError.Code.init(in:)) == .stockLoader)
        let download = await #expect(throws: (any Error).self) {
            try await session.download(from: url, delegate: noDelegate)
        }
        #expect(download.flatMap(SessionError.Code.init(in:)) == .stockLoader)
        // An app cannot remove the guard.
        session.configuration.protocolClasses = []
        let again = await #expect(throws: (any Error).self) { try await session.data(from: url, delegate: noDelegate) }
        #expect(again.flatMap(SessionError.Code.init(in:)) == .stockLoader)
        #expect(server.connectionCount == 0)
    }

    @Test(
        "A URLProtocol in the configuration carries no request, and the session names its class",
        arguments: [true, false])
    func foreignLoader(isThere: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        if isThere { configuration.protocolClasses = [Carrier.self] + (configuration.protocolClasses ?? []) }
        let recorder = TrustEventRecorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, observer: recorder)
        #expect(session.removedProtocols == (isThere ? [String(reflecting: Carrier.self)] : []))
        #expect(try await session.data(from: try server.address()).0.count == 3)
        #expect(server.requests.count == 1)
        await TrustEventFeed.shared.waitForEvents()
        #expect(recorder.events.compactMap(\.sessionEvent?.kind) == (isThere ? [.foreignProtocol] : []))
        // A session does not report the guard of another pinned session.
        #expect(
            URLSession.pinned(to: try fixture.policy(), configuration: session.configuration).removedProtocols == [])
    }

    @Test("A session without a public suffix list tells the observer", arguments: [true, false])
    func missingList(isMissing: Bool) async throws {
        let recorder = TrustEventRecorder()
        let session = PinnedURLSession(
            source: try SessionFixture().policy(), configuration: .ephemeral, delegate: nil, delegateQueue: nil,
            observer: recorder,
            validator: PathValidator(budget: PathBudget(), suffixes: isMissing ? .missing : .system))
        session.invalidateAndCancel()
        await TrustEventFeed.shared.waitForEvents()
        #expect(recorder.events.compactMap(\.sessionEvent?.code) == (isMissing ? ["missing-suffix-list"] : []))
        #expect(recorder.events.allSatisfy { $0.level == .warning && "\($0)".contains("install publicsuffix") })
    }

    @Test("An unsupported feature fails with an error that names it", arguments: ["resumeData", "scheme"])
    func unsupported(what: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let task: URLSessionTask
        switch what {
        case "resumeData": task = session.downloadTask(withResumeData: Data())
        default: task = session.dataTask(with: try #require(URL(string: "ftp://localhost/")))
        }
        await recorder.run(task)
        let error = try #require(recorder.log.withLock { $0.error } as? URLError)
        #expect(error.refusal == (what == "scheme" ? .unsupportedScheme : .unsupportedFeature))
        #expect(server.connectionCount == 0)
    }

    @Test(
        "A connection through a proxy's tunnel gets the same verdict",
        arguments: [LoopbackProxy.Kind.httpConnect, .socks5])
    func proxy(kind: LoopbackProxy.Kind) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let proxy = try LoopbackProxy(kind)
        let configuration = URLSessionConfiguration.ephemeral
        let name = kind == .httpConnect ? "HTTPS" : "SOCKS"
        configuration.connectionProxyDictionary = [
            "\(name)Enable": true, "\(name)Proxy": "127.0.0.1", "\(name)Port": Int(proxy.port),
        ]
        let good = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        #expect(try await good.data(from: try server.address()).0.count == 3)
        #expect(proxy.connections.first?.host == "localhost")
        let before = server.requestByteCount
        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false), configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await bad.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(proxy.connections.count == 2)
        #expect(server.requestByteCount == before)
    }

    @Test("An https proxy is refused, and the error names it")
    func httpsProxy() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": true, "HTTPSProxy": "https://127.0.0.1", "HTTPSPort": 1,
        ]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(error?.refusal == .unsupportedProxy)
        #expect(error?.localizedDescription.contains("https://") == true)
        #expect(server.connectionCount == 0)
    }
}

extension URLError {
    var refusal: SessionError.Code? { SessionError.Code(in: self) }
}

extension SessionError.Code {
    init?(in error: any Error) {
        guard let refusal = (error as NSError).userInfo[NSUnderlyingErrorKey] as? SessionError else { return nil }
        self = refusal.code
    }
}

/// A URLProtocol that accepts every request and never answers.
private final class Carrier: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}
    override func stopLoading() {}
}

extension TrustEvent {
    fileprivate var sessionEvent: SessionEvent? {
        if case .session(let event) = self { event } else { nil }
    }
}
