import Foundation
import PintleApple
import PintleStorage
import PintleTestKit
import PintleURLSession
import Testing
import WebKit

/// Downloads of web views ask their own delegate, not the web view's.
@Suite("Apple: downloads of web views")
@MainActor
struct DownloadTests {
    @Test("The policy decides about a download only if its delegate forwards the challenge")
    func judged() async throws {
        let fixture = try SessionFixture(isSystem: true)
        for (rightPin, forwards) in [(true, true), (false, true), (false, false)] {
            let server = try fixture.server()
            let trust = WebViewTrustDelegate(try fixture.policy(rightPin: rightPin, anchors: .system))
            let delegate = Downloads(forwards ? trust : nil)
            await WKDownload.run(URLRequest(url: try server.address()), asking: delegate)
            let isRefused = !rightPin && forwards
            #expect((delegate.error == nil) == !isRefused)
            let rejection = delegate.error.flatMap { TrustRejection(underlying: trust.explain($0, of: delegate.last)) }
            #expect(rejection?.reason == (isRefused ? "pin-mismatch" : nil))
            #expect((server.requestByteCount == 0) == isRefused)
            // An error is explained only once, and only after a challenge about the server.
            let again = delegate.error.flatMap { TrustRejection(underlying: trust.explain($0, of: delegate.last)) }
            #expect(again == nil)
        }
    }

    @Test("Private anchors and approvals also apply to downloads")
    func anchors() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for forwards in [true, false] {
            let trust = WebViewTrustDelegate(try fixture.policy())
            let delegate = Downloads(forwards ? trust : nil)
            await WKDownload.run(URLRequest(url: try server.address()), asking: delegate)
            #expect((delegate.error == nil) == forwards)
            // The system by itself does not trust the authority.
            #expect((delegate.error as? URLError)?.code == (forwards ? nil : .serverCertificateUntrusted))
            #expect(server.requests.count == 1)
        }
        let unknown = try LoopbackTLSServer(try Identity.selfSigned(), handler: { _ in .ok })
        let store = TrustApprovalStore()
        let trust = WebViewTrustDelegate(
            ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store))
        for isApproved in [false, true] {
            let delegate = Downloads(trust)
            await WKDownload.run(URLRequest(url: try unknown.address()), asking: delegate)
            #expect((delegate.error == nil) == isApproved)
            #expect(unknown.requests.count == (isApproved ? 1 : 0))
            guard !isApproved else { break }
            let rejection = TrustRejection(
                underlying: trust.explain(try #require(delegate.error), of: delegate.last))
            guard case .unknownHost(let host) = rejection else {
                Issue.record("\(String(describing: rejection))")
                return
            }
            try store.approve(host)
        }
    }

    @Test("A download follows no redirect from https to http, nor over http to a covered host")
    func redirects() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let target = "http://127.0.0.1:\(plain.port)/"
        let server = try fixture.server { $0.target == "/away" ? .redirect(to: target) : .ok }
        let trust = WebViewTrustDelegate(try fixture.policy())
        for (path, isAllowed) in [("away", false), ("here", true)] {
            let delegate = Downloads(trust)
            await WKDownload.run(URLRequest(url: try server.address(path)), asking: delegate)
            #expect((delegate.error == nil) == isAllowed)
            #expect((delegate.error as? URLError)?.code == (isAllowed ? nil : .cancelled))
        }
        #expect(plain.connectionCount == 0)
        let covered = try LoopbackTCPServer.http { _ in .redirect(to: "http://localhost:\(plain.port)/") }
        let url = try #require(URL(string: "http://127.0.0.1:\(covered.port)/"))
        for (policy, isAllowed) in [(try fixture.policy(), false), (try PinningPolicy(hosts: []), true)] {
            let delegate = Downloads(WebViewTrustDelegate(policy))
            await WKDownload.run(URLRequest(url: url), asking: delegate)
            #expect((delegate.error == nil) == isAllowed)
            #expect((delegate.error as? URLError)?.code == (isAllowed ? nil : .cancelled))
        }
        #expect(plain.connectionCount == 1)
    }

    @Test("A password challenge goes to the download's own delegate")
    func password() throws {
        let trust = WebViewTrustDelegate(try SessionFixture().policy())
        let delegate = Downloads(trust)
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        var seen: URLSession.AuthChallengeDisposition?
        trust.download(delegate.last, didReceive: .asked(space)) { disposition, _ in seen = disposition }
        #expect(seen == .performDefaultHandling)
    }
}

/// An app's download delegate, which forwards the challenges or not.
@MainActor
private final class Downloads: NSObject, WKDownloadDelegate {
    private let trust: WebViewTrustDelegate?
    private let place = FileManager.default.temporaryDirectory.appendingPathComponent("download-\(UUID().uuidString)")
    private(set) var error: (any Error)?
    private(set) var last = WKDownload.idle()

    init(_ trust: WebViewTrustDelegate?) {
        self.trust = trust
    }

    deinit {
        try? FileManager.default.removeItem(at: place)
    }

    func download(
        _ download: WKDownload, decideDestinationUsing response: URLResponse, suggestedFilename: String,
        completionHandler: @escaping @MainActor @Sendable (URL?) -> Void
    ) {
        completionHandler(place)
    }

    func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        guard let trust else { return completionHandler(.performDefaultHandling, nil) }
        trust.download(download, didReceive: challenge, completionHandler: completionHandler)
    }

    func download(
        _ download: WKDownload, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        decisionHandler: @escaping @MainActor @Sendable (WKDownload.RedirectPolicy) -> Void
    ) {
        guard let trust else { return decisionHandler(.allow) }
        trust.download(
            download, willPerformHTTPRedirection: response, newRequest: request, decisionHandler: decisionHandler)
    }

    func download(_ download: WKDownload, didFailWithError error: any Error, resumeData: Data?) {
        self.error = error
        last = download
    }
}
