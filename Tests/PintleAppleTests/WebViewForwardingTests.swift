import Foundation
import PintleApple
import PintleTestKit
import Testing
import WebKit

/// The methods of a web view's delegate: those in which the policy decides, and those that are only forwarded.
///
/// WebKit asks `responds(to:)` once. There is no Objective-C here, so these tests show that the methods are the
/// delegate's own, and not that WebKit finds them.
@Suite("Apple: methods of a web view's delegate")
@MainActor
struct WebViewForwardingTests {
    /// Your delegate's methods.
    enum Wrapped: CaseIterable {
        case none, bare, permissive

        @MainActor var delegate: (any WKNavigationDelegate)? {
            switch self {
            case .none: nil
            case .bare: BareDelegate()
            case .permissive: PermissiveNavigationDelegate()
            }
        }
    }

    private let webView = WKWebView()

    @Test("The policy decides about a server's challenge, whatever the app's delegate has", arguments: Wrapped.allCases)
    func challenge(wrapped: Wrapped) async throws {
        let fixture = try SessionFixture()
        for (rightPin, expected) in [
            (true, URLSession.AuthChallengeDisposition.useCredential), (false, .cancelAuthenticationChallenge),
        ] {
            let own = wrapped.delegate
            let trust: any WKNavigationDelegate = WebViewTrustDelegate(
                try fixture.policy(rightPin: rightPin), forwardingTo: own)
            let challenge = try SessionFixture.challenge(fixture.identity.chain)
            let disposition = await withCheckedContinuation { continuation in
                trust.webView(webView, didReceive: challenge) { disposition, _ in
                    continuation.resume(returning: disposition)
                }
            }
            #expect(disposition == expected)
            withExtendedLifetime(own) {}
        }
    }

    @Test("Old versions of TLS are refused, whatever the app's delegate has", arguments: Wrapped.allCases)
    func deprecatedTLS(wrapped: Wrapped) throws {
        let own = wrapped.delegate
        let trust: any WKNavigationDelegate = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: own)
        var answers: [Bool] = []
        trust.webView(
            webView, authenticationChallenge: .asked(.serverTrust(nil, host: "localhost", port: 443)),
            shouldAllowDeprecatedTLS: { answers.append($0) })
        #expect(answers == [false])
        withExtendedLifetime(own) {}
    }

    @Test("The policy decides about an action, whatever the app's delegate has", arguments: Wrapped.allCases)
    func action(wrapped: Wrapped) throws {
        for (text, expected) in [
            ("http://localhost/", WKNavigationActionPolicy.cancel), ("http://example.com/", .allow),
        ] {
            let own = wrapped.delegate
            let trust: any WKNavigationDelegate = WebViewTrustDelegate(
                try SessionFixture().policy(), forwardingTo: own)
            let action = WKNavigationAction.asked(URLRequest(url: try #require(URL(string: text))))
            var answers: [WKNavigationActionPolicy] = []
            trust.webView(webView, decidePolicyFor: action, preferences: WKWebpagePreferences()) { answer, _ in
                answers.append(answer)
            }
            #expect(answers == [expected])
            withExtendedLifetime(own) {}
        }
    }

    @Test("The policy decides about a response, whatever the app's delegate has", arguments: Wrapped.allCases)
    func response(wrapped: Wrapped) throws {
        for (text, expected) in [
            ("http://localhost/", WKNavigationResponsePolicy.cancel), ("http://example.com/", .allow),
        ] {
            let own = wrapped.delegate
            let trust: any WKNavigationDelegate = WebViewTrustDelegate(
                try SessionFixture().policy(), forwardingTo: own)
            let response = URLResponse(
                url: try #require(URL(string: text)), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            var answers: [WKNavigationResponsePolicy] = []
            trust.webView(webView, decidePolicyFor: .arrived(response, isForMainFrame: true)) { answers.append($0) }
            #expect(answers == [expected])
            withExtendedLifetime(own) {}
        }
    }

    @Test("A step in the history goes to the app's delegate, and is allowed without one", arguments: Wrapped.allCases)
    func history(wrapped: Wrapped) throws {
        let own = wrapped.delegate
        let trust: any WKNavigationDelegate = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: own)
        let item = WKBackForwardListItem.visited(try #require(URL(string: "https://localhost/")))
        var answers: [Bool] = []
        trust.webView(webView, shouldGoTo: item, willUseInstantBack: true) { answers.append($0) }
        // Only this delegate has the method, and it refuses.
        #expect(answers == [wrapped != .permissive])
        #expect((own as? PermissiveNavigationDelegate)?.calls == (wrapped == .permissive ? ["history true"] : nil))
    }

    @Test("A form goes to the app's delegate, and WebKit goes on without one", arguments: Wrapped.allCases)
    func form(wrapped: Wrapped) throws {
        let own = wrapped.delegate
        let trust: any WKNavigationDelegate = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: own)
        var count = 0
        trust.webView(webView, willSubmitForm: .filled(try #require(URL(string: "https://localhost/")))) { count += 1 }
        #expect(count == 1)
        #expect((own as? PermissiveNavigationDelegate)?.calls == (wrapped == .permissive ? ["form"] : nil))
    }
}

/// A delegate without optional methods.
@MainActor
private final class BareDelegate: NSObject, WKNavigationDelegate {}

/// A delegate that lets everything through, and goes nowhere in the history.
@MainActor
private final class PermissiveNavigationDelegate: NSObject, WKNavigationDelegate {
    private(set) var calls: [String] = []

    func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }

    func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        decisionHandler(true)
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    ) {
        decisionHandler(.allow, preferences)
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        decisionHandler(.allow)
    }

    func webView(
        _ webView: WKWebView, shouldGoTo backForwardListItem: WKBackForwardListItem, willUseInstantBack: Bool,
        completionHandler: @escaping (Bool) -> Void
    ) {
        calls.append("history \(willUseInstantBack)")
        completionHandler(false)
    }

    func webView(
        _ webView: WKWebView, willSubmitForm formInfo: WKFormInfo,
        submissionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        calls.append("form")
        submissionHandler()
    }
}
