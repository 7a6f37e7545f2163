import Foundation
import Network
import PintleApple
import PintleEvents
import PintleReports
import PintleTestKit
import PintleURLSession
import Security
import Testing
import WebKit

/// The observer of a session, given to everything else that can judge a server.
@Suite("Apple: observers of delegates", .timeLimit(.minutes(1)))
@MainActor
struct DelegateObserverTests {
    enum Client: CaseIterable {
        case session, ownSession, webView, download, connection
    }

    /// Sends a request, and returns the reports about its server.
    private static func reports(
        _ client: Client, of server: LoopbackTLSServer, _ fixture: SessionFixture, by policy: PinningPolicy
    ) async throws -> [TrustFailureReport] {
        let recorder = TrustEventRecorder()
        let url = try server.address()
        switch client {
        case .session: _ = try? await URLSession.pinned(to: policy, observer: recorder).data(from: url)
        case .ownSession:
            let delegate = PinningSessionDelegate(policy, observer: recorder)
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            _ = try? await session.data(from: url)
            session.finishTasksAndInvalidate()
        case .webView:
            let navigation = Navigation()
            let trust = WebViewTrustDelegate(policy, forwardingTo: navigation, observer: recorder)
            _ = try await navigation.load(url, trust)
        case .download:
            let trust = WebViewTrustDelegate(policy, observer: recorder)
            await WKDownload.run(URLRequest(url: url), asking: ForwardingDownloads(trust))
        case .connection:
            let options = NWProtocolTLS.Options()
            let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
            options.decideTrust(of: endpoint, by: ServerTrustEvaluator(policy: policy).observed(by: recorder))
            let challenge = try SessionFixture.challenge(fixture.identity.chain)
            _ = options.securityProtocolOptions.verify(try #require(challenge.protectionSpace.serverTrust))
        }
        await recorder.waitForEvents()
        return recorder.reports.map { report in
            var report = report
            report.dateTime = Date(timeIntervalSince1970: 0)
            return report
        }
    }

    @Test("A web view, a download, a connection and a session of one's own report what a pinned session reports")
    func same() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for (rightPin, enforcement, reason) in [
            (true, Enforcement.enforce, nil), (false, .enforce, "pin-mismatch"),
            (false, .reportOnly, "mismatch-reported-only"),
        ] {
            let policy = try PinningPolicy(hosts: [fixture.rule(rightPin: rightPin, enforcement: enforcement)])
            let expected = try await Self.reports(.session, of: server, fixture, by: policy)
            #expect(expected.map(\.reason) == (reason.map { [$0] } ?? []))
            for client in Client.allCases {
                let reports = try await Self.reports(client, of: server, fixture, by: policy)
                #expect(reports == expected, "\(client)")
            }
        }
    }

    @Test("The served chain of a report is the system's path, which has a root that the server did not send")
    func servedChain() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        #expect(fixture.identity.chain.count < fixture.identity.chainWithRoot.count)
        let reports = try await Self.reports(
            .webView, of: server, fixture, by: fixture.policy(rightPin: false, anchors: .system))
        #expect(reports.first?.servedCertificateChain.count == fixture.identity.chainWithRoot.count)
    }

    @Test("A session of one's own with an observer fails with the typed error of a pinned session")
    func typedError() async throws {
        let plain = try LoopbackTCPServer.http()
        let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
        for (host, isRefused) in [("localhost", true), ("example.com", false)] {
            let policy = try SessionFixture().policy(host: host)
            let delegate = PinningSessionDelegate(policy, observer: TrustEventRecorder())
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            var found: (any Error)?
            do { _ = try await session.data(from: url) } catch { found = session.explain(error) }
            let reason = (found as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError
            #expect(reason?.code == (isRefused ? .plainHTTP : nil))
            #expect((found == nil) == !isRefused)
            session.finishTasksAndInvalidate()
        }
    }
}

/// A download's delegate that forwards its challenges.
@MainActor
private final class ForwardingDownloads: NSObject, WKDownloadDelegate {
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
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        trust.download(download, didReceive: challenge, completionHandler: completionHandler)
    }
}
