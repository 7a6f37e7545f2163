import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing
import WebKit

/// Pages from real servers.
@Suite("Apple: web views")
@MainActor
struct WebViewTests {
    @Test(
        "A page loads from the pinned server, with private roots too; an interceptor gets no byte",
        arguments: [true, false])
    func page(isSystem: Bool) async throws {
        let stage = try Stage(isSystem: isSystem)
        let anchors: TrustAnchors? = isSystem ? .system : nil
        let server = try stage.server()
        let good = Navigation()
        let trust = WebViewTrustDelegate(try stage.policy(anchors: anchors), forwardingTo: good)
        #expect(try await good.load(server.address(), trust) == nil)
        #expect(good.events == ["action", "start", "response", "commit", "finish"])
        #expect(server.requests.count == 1)

        let interceptor = try stage.server()
        let bad = Navigation()
        let strict = WebViewTrustDelegate(try stage.policy(rightPin: false, anchors: anchors), forwardingTo: bad)
        let error = try #require(try await bad.load(interceptor.address(), strict))
        #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
        #expect(bad.events == ["action", "start", "failure"])
        #expect(interceptor.requestByteCount == 0)
    }

    @Test("Fail, ask, store, try again")
    func approval() async throws {
        let identity = try Identity.selfSigned()
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let store = TrustApprovalStore()
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(policy, approvals: store, forwardingTo: navigation)
        let error = try #require(try await navigation.load(server.address(), trust))
        guard case .unknownHost(let host) = TrustRejection(underlying: error) else {
            Issue.record("\(error)")
            return
        }
        try store.approve(host)
        #expect(try await navigation.load(server.address(), trust) == nil)
        // Whoever has another certificate is not who was approved, and neither is this one once that is taken back.
        let other = try LoopbackTLSServer(try Identity.selfSigned())
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: other.port)
        try store.approve(try TrustApproval(.certificate(host.leaf.fingerprint), for: endpoint, at: Date()))
        let changed = try #require(try await navigation.load(other.address(), trust))
        #expect(TrustRejection(underlying: changed)?.reason == "pin-mismatch")
        try store.revoke(host.endpoint)
        let revoked = try #require(try await navigation.load(server.address(), trust))
        #expect(TrustRejection(underlying: revoked)?.reason == "unknown-host")
    }

    @Test("Where nobody decides, a link that is a download is downloaded, and another loaded")
    func download() throws {
        let trust = WebViewTrustDelegate(try Stage().policy())
        let request = URLRequest(url: try #require(URL(string: "https://localhost/")))
        for (isDownload, expected) in [(true, WKNavigationActionPolicy.download), (false, .allow)] {
            var seen: WKNavigationActionPolicy?
            trust.webView(
                WKWebView(), decidePolicyFor: .asked(request, shouldPerformDownload: isDownload),
                preferences: WKWebpagePreferences()
            ) { policy, _ in seen = policy }
            #expect(seen == expected)
        }
    }

    /// Policies under which a page over http from localhost is cancelled, and one under which it loads.
    private static func policies() throws -> [(policy: PinningPolicy, isAllowed: Bool)] {
        let stage = try Stage()
        return [
            (try stage.policy(), false), (try PinningPolicy(hosts: [], unpinnedHosts: .reject), false),
            (try PinningPolicy(hosts: [], unpinnedHosts: .askUser), false),
            (try stage.policy(host: "example.com"), true),
        ]
    }

    @Test(
        "A page over http from a host that the policy covers is cancelled with its reason; one from another host loads")
    func plainHTTP() async throws {
        for (policy, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "HTTP://localhost:\(plain.port)/"))
            let navigation = Navigation()
            let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect((error as? URLError)?.code == (isAllowed ? nil : .appTransportSecurityRequiresSecureConnection))
            #expect((error as? URLError)?.failingURL == (isAllowed ? nil : url))
            let loaded = ["action", "start", "response", "commit", "finish"]
            #expect(navigation.events == (isAllowed ? loaded : ["failure"]))
            #expect(plain.connectionCount == (isAllowed ? 1 : 0))
        }
    }

    @Test("A page over http is cancelled where the policy comes to cover its host while the delegate decides")
    func plainHTTPMeanwhile() async throws {
        for (next, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let policy = LivePolicy(try PinningPolicy(hosts: []))
            let navigation = Navigation(onAction: { policy.replace(with: next) })
            let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect((error as? URLError)?.code == (isAllowed ? nil : .appTransportSecurityRequiresSecureConnection))
            #expect(navigation.events.first == "action" && plain.connectionCount == (isAllowed ? 1 : 0))
        }
    }

    @Test("A frame or a download over http from a covered host is cancelled too, and the page goes on")
    func plainFrames() throws {
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try Stage().policy(), forwardingTo: navigation)
        for (text, isAllowed) in [
            ("http://localhost/", false), ("http://0.0.0.0/", false), ("https://localhost/", true),
            ("http://example.com/", true), ("about:blank", true),
        ] {
            let request = URLRequest(url: try #require(URL(string: text)))
            for isDownload in [false, true] {
                var seen: WKNavigationActionPolicy?
                trust.webView(
                    WKWebView(),
                    decidePolicyFor: .asked(request, shouldPerformDownload: isDownload, isMainFrame: false),
                    preferences: WKWebpagePreferences()
                ) { policy, _ in seen = policy }
                #expect(seen == (isAllowed ? .allow : .cancel), "\(text)")
            }
        }
        #expect(!navigation.events.contains("failure"))
    }

    @Test("A page over http from an alias of an address fails for that reason")
    func plainAlias() async throws {
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try PinningPolicy(hosts: []), forwardingTo: navigation)
        let error = try await navigation.load(try #require(URL(string: "http://0.0.0.0/")), trust)
        #expect((error as? URLError)?.code == .badURL && navigation.events == ["failure"])
    }

    @Test("What is not about trust goes to the delegate, and old TLS to nobody")
    func others() throws {
        let stage = try Stage()
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try stage.policy(), forwardingTo: navigation)
        let webView = WKWebView()
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let answers = Locked<[URLSession.AuthChallengeDisposition]>([])
        trust.webView(webView, didReceive: .asked(space)) { disposition, _ in
            answers.withLock { $0.append(disposition) }
        }
        #expect(answers.withLock { $0 } == [.useCredential])
        let old = Locked<[Bool]>([])
        trust.webView(
            webView, authenticationChallenge: .asked(space),
            shouldAllowDeprecatedTLS: { isAllowed in
                old.withLock { $0.append(isAllowed) }
            })
        #expect(old.withLock { $0 } == [false])
        trust.webViewWebContentProcessDidTerminate(webView)
        #expect(navigation.events == ["challenge", "terminated"])
        #expect(webView.reloadCount == 0)
    }

    @Test("Without a delegate to forward to, a password is refused and a lost page loaded again, once")
    func alone() throws {
        let trust = WebViewTrustDelegate(try Stage().policy())
        let webView = WKWebView()
        let answers = Locked<[URLSession.AuthChallengeDisposition]>([])
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        trust.webView(webView, didReceive: .asked(space)) { disposition, _ in
            answers.withLock { $0.append(disposition) }
        }
        #expect(answers.withLock { $0 } == [.rejectProtectionSpace])
        for _ in 0..<3 { trust.webViewWebContentProcessDidTerminate(webView) }
        #expect(webView.reloadCount == 1)
    }
}

@MainActor
private final class Navigation: NSObject, WKNavigationDelegate {
    var events: [String] = []
    private let webView = WKWebView()
    private var ended: CheckedContinuation<(any Error)?, Never>?
    private let onAction: @MainActor () -> Void

    init(onAction: @escaping @MainActor () -> Void = {}) {
        self.onAction = onAction
    }

    func load(_ url: URL, _ delegate: WebViewTrustDelegate) async throws -> (any Error)? {
        webView.navigationDelegate = delegate
        return await withCheckedContinuation { continuation in
            ended = continuation
            webView.load(URLRequest(url: url))
        }
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) {
        events.append("action")
        onAction()
        decisionHandler(.allow)
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        events.append("response")
        decisionHandler(.allow)
    }

    func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        events.append("challenge")
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func webViewWebContentProcessDidTerminate(_ webView: WKWebView) { events.append("terminated") }

    func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {
        events.append("start")
    }

    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { events.append("commit") }

    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
        events.append("finish")
        end(nil)
    }

    func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {
        events.append("failure")
        end(error)
    }

    private func end(_ error: (any Error)?) {
        ended?.resume(returning: error)
        ended = nil
    }
}
