import Foundation
import PintleApple
import WebKit

/// A helper that loads pages in a web view and records the calls of the web view's delegate.
@MainActor
final class Navigation: NSObject, WKNavigationDelegate {
    let webView = WKWebView()
    private(set) var events: [String] = []
    /// The failures in order, each with whether it ended a navigation.
    private(set) var failures: [(error: any Error, hasNavigation: Bool)] = []
    /// A Boolean value that indicates whether each failure ended a navigation.
    var failuresHaveNavigations: Bool { failures.allSatisfy { $0.hasNavigation } }
    /// A closure that is called at each event, before it is answered.
    var onEvent: @MainActor (String) -> Void
    /// The answers about the next actions. Further actions are allowed.
    var answersToActions: [WKNavigationActionPolicy] = []
    var answerToResponse = WKNavigationResponsePolicy.allow
    private var ends = AsyncStream<(any Error)?>.makeStream()

    init(onEvent: @escaping @MainActor (String) -> Void = { _ in }) {
        self.onEvent = onEvent
    }

    /// Loads a page. Returns the first error, or `nil` once the page is loaded. Throws if the test's time limit is
    /// reached.
    func load(_ url: URL, _ delegate: WebViewTrustDelegate) async throws -> (any Error)? {
        webView.navigationDelegate = delegate
        ends = AsyncStream.makeStream()
        webView.load(URLRequest(url: url))
        for await error in ends.stream { return error }
        throw CancellationError()
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) {
        record("action")
        decisionHandler(answersToActions.isEmpty ? .allow : answersToActions.removeFirst())
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        record("response")
        decisionHandler(answerToResponse)
    }

    func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        record("challenge")
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func webViewWebContentProcessDidTerminate(_ webView: WKWebView) { record("terminated") }

    func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) { record("start") }

    func webView(_ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!) {
        record("redirect")
    }

    func webView(_ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload) {
        record("download")
    }

    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { record("commit") }

    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
        record("finish")
        ends.continuation.yield(nil)
    }

    func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {
        failures.append((error, navigation != nil))
        record("failure")
        ends.continuation.yield(error)
    }

    private func record(_ event: String) {
        events.append(event)
        onEvent(event)
    }
}
