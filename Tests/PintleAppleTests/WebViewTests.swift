import Foundation
import PintleApple
import PintleStorage
import PintleTestKit
import PintleURLSession
import Testing
import WebKit

/// Pages from real servers.
@Suite("Apple: web views", .timeLimit(.minutes(1)))
@MainActor
struct WebViewTests {
    @Test(
        "A page loads from the pinned server, with private roots too; an interceptor gets no byte",
        arguments: [true, false])
    func page(isSystem: Bool) async throws {
        let fixture = try SessionFixture(isSystem: isSystem)
        let anchors: TrustAnchors? = isSystem ? .system : nil
        let server = try fixture.server()
        let good = Navigation()
        let trust = WebViewTrustDelegate(try fixture.policy(anchors: anchors), forwardingTo: good)
        #expect(try await good.load(server.address(), trust) == nil)
        #expect(good.events == ["action", "start", "response", "commit", "finish"])
        #expect(server.requests.count == 1)

        let interceptor = try fixture.server()
        let bad = Navigation()
        let strict = WebViewTrustDelegate(try fixture.policy(rightPin: false, anchors: anchors), forwardingTo: bad)
        let error = try #require(try await bad.load(interceptor.address(), strict))
        #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
        #expect(bad.events == ["action", "start", "failure"])
        #expect(interceptor.requestByteCount == 0)
    }

    @Test("A page fails, the user approves, and the page loads")
    func approval() async throws {
        let identity = try Identity.selfSigned()
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let store = TrustApprovalStore()
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(ApprovedPolicy(policy, approvals: store), forwardingTo: navigation)
        let error = try #require(try await navigation.load(server.address(), trust))
        guard case .unknownHost(let host) = TrustRejection(underlying: error) else {
            Issue.record("\(error)")
            return
        }
        try store.approve(host)
        #expect(try await navigation.load(server.address(), trust) == nil)
        // A server with another certificate was not approved, and after the approval is revoked, neither is this one.
        let other = try LoopbackTLSServer(try Identity.selfSigned())
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: other.port)
        try store.approve(try TrustApproval(.certificate(host.leaf.fingerprint), for: endpoint, at: Date()))
        let changed = try #require(try await navigation.load(other.address(), trust))
        #expect(TrustRejection(underlying: changed)?.reason == "pin-mismatch")
        try store.revoke(host.endpoint)
        let revoked = try #require(try await navigation.load(server.address(), trust))
        #expect(TrustRejection(underlying: revoked)?.reason == "unknown-host")
    }

    @Test("Without a decision by a delegate, a link marked as a download is downloaded, and another one loads")
    func download() throws {
        let trust = WebViewTrustDelegate(try SessionFixture().policy())
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

    @Test("Calls that are not about trust go to the delegate, and old TLS is refused without asking it")
    func others() throws {
        let fixture = try SessionFixture()
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try fixture.policy(), forwardingTo: navigation)
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

    @Test("Without a delegate, a password is refused and a page whose process ended is reloaded once")
    func alone() throws {
        let trust = WebViewTrustDelegate(try SessionFixture().policy())
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
