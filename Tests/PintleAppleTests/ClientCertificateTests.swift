import Foundation
import Pintle
import PintleTestKit
import PintleURLSession
import Security
import Testing
import WebKit

@testable import PintleApple

/// Servers that ask for a client certificate. In each flow macOS has an identity for the server, which it offers with
/// default handling.
@Suite("Apple: client certificates")
struct ClientCertificateTests {
    private typealias Answer = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    private let fixture: SessionFixture
    private let identity: SecIdentity
    private let chain: [[UInt8]]

    init() throws {
        fixture = try SessionFixture(isSystem: true)
        let client = try fixture.root.issueClient()
        identity = SecIdentity(certificate: client.certificate.der, key: client.key.pkcs8DER)
        chain = [client.certificate.der]
    }

    private func server(
        _ question: TLSServerConfiguration.ClientCertificateQuestion,
        versions: ClosedRange<LoopbackTLSServer.Version> = .tls12 ... .tls13,
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> LoopbackTLSServer {
        let server = try LoopbackTLSServer(
            fixture.identity,
            configure: { configuration in
                configuration.clientCertificateQuestion = question
                configuration.versions = versions
            }, handler: handler)
        StandIn.prefer(identity, port: Int(server.port))
        return server
    }

    private func policy(isCovered: Bool = true) throws -> PinningPolicy {
        try fixture.policy(host: isCovered ? "localhost" : "other.test", anchors: .system)
    }

    private static func code(_ error: (any Error)?) -> SessionError.Code? {
        ((error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code
    }

    private static func challenge(
        _ method: String = NSURLAuthenticationMethodClientCertificate, host: String = "localhost",
        isProxy: Bool = false
    ) -> URLAuthenticationChallenge {
        .asked(
            isProxy
                ? ProxySpace(host: host, port: 443, protocol: "https", realm: "r", authenticationMethod: method)
                : URLProtectionSpace(host: host, port: 443, protocol: "https", realm: "r", authenticationMethod: method)
        )
    }

    /// Returns the answers to a challenge of the session and of a task.
    private static func answers(
        _ delegate: PinningSessionDelegate, to challenge: URLAuthenticationChallenge
    ) throws -> [Answer] {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let answers = Locked<[Answer]>([])
        delegate.urlSession(session, didReceive: challenge) { disposition, credential in
            answers.withLock { $0.append((disposition, credential)) }
        }
        let task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
        delegate.urlSession(session, task: task, didReceive: challenge) {
            disposition, credential in answers.withLock { $0.append((disposition, credential)) }
        }
        return answers.withLock { $0 }
    }

    @Test("Without a delegate's answer a covered host gets no certificate, and any other challenge default handling")
    func dispositions() throws {
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)))
        let onPort = try PinnedHost("localhost", port: 8_443, pins: [pin], backup: .noneAccepted)
        let covering = [
            try policy(), try PinningPolicy(hosts: [onPort]), try PinningPolicy(hosts: [], unpinnedHosts: .reject),
            try PinningPolicy(hosts: [], unpinnedHosts: .askUser),
        ]
        var cases = covering.map { ($0, Self.challenge(), URLSession.AuthChallengeDisposition.rejectProtectionSpace) }
        for other in [Self.challenge(NSURLAuthenticationMethodHTTPBasic), Self.challenge(isProxy: true)] {
            cases += covering.map { ($0, other, .performDefaultHandling) }
        }
        cases += [
            (try policy(), Self.challenge(host: "a b"), .rejectProtectionSpace),
            (try policy(isCovered: false), Self.challenge(), .performDefaultHandling),
            (try PinningPolicy(hosts: []), Self.challenge(), .performDefaultHandling),
        ]
        for (policy, challenge, disposition) in cases {
            let answers = try Self.answers(PinningSessionDelegate(policy), to: challenge)
            #expect(answers.map(\.disposition) == [disposition, disposition])
            #expect(answers.allSatisfy { $0.credential == nil })
        }
    }

    @Test("A delegate of the app is asked about a covered host, and its answer passes unchanged")
    func forwarded() throws {
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
        let given: [Answer] = [
            (.useCredential, credential), (.performDefaultHandling, nil), (.cancelAuthenticationChallenge, nil),
            (.rejectProtectionSpace, nil),
        ]
        for answer in given {
            let own = AnsweringDelegate(answer)
            let answers = try Self.answers(
                PinningSessionDelegate(try policy(), forwardingTo: own), to: Self.challenge())
            #expect(answers.map(\.disposition) == [answer.disposition, answer.disposition])
            #expect(answers.allSatisfy { $0.credential === answer.credential })
            #expect(
                own.methods == [NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodClientCertificate])
        }
    }

    @Test(
        "A covered server that insists gets no certificate, and the task the typed error",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func required(version: LoopbackTLSServer.Version) async throws {
        let server = try server(.init(), versions: version...version)
        let url = try server.address()
        let pinned = URLSession.pinned(to: try policy(), configuration: .ephemeral)
        let ends = TaskEnds()
        let stored: URLSession = .pinned(to: try policy(), configuration: .ephemeral, delegate: ends)
        let thrown = try #require(
            await #expect(throws: URLError.self) { try await stored.data(from: url) })
        #expect(thrown.code == .clientCertificateRequired && Self.code(thrown) == nil)
        let errors = [
            await #expect(throws: URLError.self) { try await pinned.data(from: url) },
            await withCheckedContinuation { continuation in
                pinned.dataTask(with: url) { continuation.resume(returning: $2 as? URLError) }.resume()
            },
            stored.explain(thrown) as? URLError, await ends.end(of: stored.dataTask(with: url)) as? URLError,
        ]
        for error in errors {
            #expect(error?.code == .clientCertificateRequired && error?.failingURL == url)
            #expect(Self.code(error) == .clientCertificateRequired)
            #expect(TrustRejection(underlying: try #require(error)) == nil)
            #expect(error?.localizedDescription.hasPrefix("localhost:\(server.port) asks for a client cert") == true)
            #expect(error?.localizedDescription.contains("use Network.framework") == true)
        }
        #expect(server.waitUntilClosed(connections: 4))
        #expect(server.connections.allSatisfy { $0.clientCertificates.isEmpty } && server.requests.isEmpty)
        stored.invalidateAndCancel()
        pinned.invalidateAndCancel()
    }

    @Test("The delegate of a session that was made elsewhere explains a missing certificate in words")
    func delegate() async throws {
        let server = try server(.init())
        let ends = TaskEnds()
        let session = URLSession(
            configuration: .ephemeral, delegate: PinningSessionDelegate(try policy(), forwardingTo: ends),
            delegateQueue: nil)
        let url = try server.address()
        let thrown = try #require(await #expect(throws: URLError.self) { try await session.data(from: url) })
        let reported = await ends.end(of: session.dataTask(with: url))
        for error in [session.explain(thrown) as? URLError, reported as? URLError] {
            #expect(error?.code == .clientCertificateRequired && Self.code(error) == nil)
            #expect(
                error?.localizedDescription
                    == "localhost:\(server.port) asks for a client certificate; use Network.framework, or answer the "
                    + "challenge yourself")
        }
        session.invalidateAndCancel()
    }

    @Test("A covered server that only asks gets the request without a certificate")
    func optional() async throws {
        let other = try fixture.server()
        let target = other.url()
        let server = try server(.init(isRequired: false)) { $0.target == "/away" ? .redirect(to: target) : .ok }
        let pinned = URLSession.pinned(to: try policy())
        let stored: URLSession = .pinned(to: try policy())
        #expect(try await pinned.data(from: try server.address()).0.count == 3)
        let lost = URLError(.secureConnectionFailed, userInfo: [NSURLErrorFailingURLErrorKey: try server.address()])
        for path in ["", "away"] {
            #expect(try await stored.data(from: try server.address(path)).0.count == 3)
            // The server has answered without a certificate, so a failed connection has another cause.
            #expect(Self.code(stored.explain(lost)) == nil)
        }
        #expect(server.requests.count == 3 && other.requests.count == 1)
        #expect(server.connections.allSatisfy { $0.clientCertificates.isEmpty && !$0.hasClientSignature })
        stored.invalidateAndCancel()
    }

    @Test("A server of a host that the policy does not cover gets the identity that the system chooses")
    func uncovered() async throws {
        let server = try server(.init())
        #expect(
            try await URLSession.pinned(to: try policy(isCovered: false)).data(from: try server.address()).0.count == 3)
        #expect(server.connections.map(\.clientCertificates) == [chain])
        #expect(server.connections.allSatisfy { $0.hasClientSignature })
    }

    @Test("A covered server gets the certificate of the app's delegate, and its refusal stays the system's error")
    func ownIdentity() async throws {
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
        for refusesAll in [false, true] {
            let server = try server(.init(refusesAll: refusesAll))
            let own = AnsweringDelegate((.useCredential, credential))
            let session = URLSession.pinned(to: try policy(), configuration: .ephemeral, delegate: own)
            do {
                #expect(try await session.data(from: try server.address()).0.count == 3)
                #expect(!refusesAll)
            } catch {
                #expect((error as? URLError)?.code == .clientCertificateRejected && Self.code(error) == nil)
                #expect(refusesAll)
            }
            #expect(server.connections.map(\.clientCertificates) == [chain])
            #expect(own.methods == [NSURLAuthenticationMethodClientCertificate])
            session.invalidateAndCancel()
        }
        let server = try server(.init(isRequired: false))
        let canceling = AnsweringDelegate((.cancelAuthenticationChallenge, nil))
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try policy(), configuration: .ephemeral, delegate: canceling)
                .data(from: try server.address())
        }
        #expect(error?.code == .cancelled && Self.code(error) == nil)
    }

    @Test("Only errors of the connection have a missing certificate as their reason, until the server responds")
    func codes() throws {
        let (url, other) = ("https://localhost/", "https://localhost:8443/")
        let (address, otherAddress) = (try #require(URL(string: url)), try #require(URL(string: other)))
        let delegate = PinningSessionDelegate(try policy())
        let rejections = try #require(delegate.known).rejections
        func server(_ code: URLError.Code, _ url: URL) -> String? {
            rejections.serverWithoutCertificate(code, url)?.description
        }
        let codes: [URLError.Code] = [
            .clientCertificateRequired, .clientCertificateRejected, .secureConnectionFailed,
        ]
        for code in codes { #expect(server(code, address) == nil) }
        _ = try Self.answers(delegate, to: Self.challenge())
        for code in codes {
            #expect(server(code, address) == "localhost:443" && server(code, otherAddress) == nil)
        }
        for code in [URLError.Code.cancelled, .timedOut, .networkConnectionLost, .serverCertificateUntrusted] {
            #expect(server(code, address) == nil)
        }
        rejections.recordResponse(from: otherAddress)
        #expect(server(.secureConnectionFailed, address) == "localhost:443")
        rejections.recordResponse(from: address)
        for code in codes { #expect(server(code, address) == nil) }
    }

    @Test("Many servers that ask do not fill the memory")
    func bounded() throws {
        let log = RejectionLog(capacity: 8)
        for number in 0..<100 {
            let host = try ServerName("\(number).example.com")
            log.recordMissingCertificate(of: ServerEndpoint(host: host))
            let url = try #require(URL(string: "https://\(host)/"))
            #expect(log.serverWithoutCertificate(.clientCertificateRequired, url) != nil)
        }
        let first = try #require(URL(string: "https://0.example.com/"))
        #expect(log.serverWithoutCertificate(.clientCertificateRequired, first) == nil)
    }

    @Test("A web view and its downloads offer a covered server no certificate", arguments: [true, false])
    @MainActor
    func webView(isCovered: Bool) async throws {
        let server = try server(.init(isRequired: false))
        let trust = WebViewTrustDelegate(try policy(isCovered: isCovered))
        let answers = Locked<[Answer]>([])
        trust.download(.idle(), didReceive: Self.challenge()) { disposition, credential in
            answers.withLock { $0.append((disposition, credential)) }
        }
        trust.webView(WKWebView(), didReceive: Self.challenge()) { disposition, credential in
            answers.withLock { $0.append((disposition, credential)) }
        }
        // The second is the default of a web view for every host.
        #expect(
            answers.withLock { $0.map(\.disposition) } == [
                isCovered ? .rejectProtectionSpace : .performDefaultHandling, .rejectProtectionSpace,
            ])
        await WKDownload.run(URLRequest(url: try server.address()), asking: ForwardingDelegate(trust))
        #expect(server.requests.count == 1)
        #expect(server.connections.map(\.clientCertificates) == [isCovered ? [] : chain])
    }
}

/// A delegate that gives one answer to every challenge.
private final class AnsweringDelegate: NSObject, URLSessionTaskDelegate {
    private let disposition: URLSession.AuthChallengeDisposition
    private let credential: URLCredential?
    private let state = Locked<[String]>([])

    /// The authentication methods of the challenges.
    var methods: [String] { state.withLock { $0 } }

    init(_ answer: (URLSession.AuthChallengeDisposition, URLCredential?)) {
        (disposition, credential) = answer
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        state.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }
}

/// A download delegate that forwards challenges.
@MainActor
private final class ForwardingDelegate: NSObject, WKDownloadDelegate {
    private let trust: WebViewTrustDelegate

    init(_ trust: WebViewTrustDelegate) {
        self.trust = trust
    }

    func download(
        _ download: WKDownload, decideDestinationUsing response: URLResponse, suggestedFilename: String,
        completionHandler: @escaping @MainActor @Sendable (URL?) -> Void
    ) {
        completionHandler(nil)
    }

    func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        trust.download(download, didReceive: challenge, completionHandler: completionHandler)
    }
}

// `@unchecked`: the superclass is Sendable in the same way, and nothing is added.
private final class ProxySpace: URLProtectionSpace, @unchecked Sendable {
    override func isProxy() -> Bool { true }
}
