#if !os(tvOS) && !os(watchOS)
import Foundation
import Pintle
import Security
import WebKit

extension WebViewTrustDelegate: WKNavigationDelegate {
    /// Answers challenges about a server's trust by the policy; the others go to your delegate.
    public func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        guard !challenge.isAboutServerTrust else { return answer(challenge, completionHandler) }
        guard let ask = forwarded.flatMap({ offered($0.webView(_:didReceive:completionHandler:)) }) else {
            // As the web view does by itself; a proxy is the system's to judge.
            let isTrust = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
            return completionHandler(isTrust ? .performDefaultHandling : .rejectProtectionSpace, nil)
        }
        ask(webView, challenge, completionHandler)
    }

    /// TLS 1.0 and 1.1 are nobody's wish.
    public func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        decisionHandler(false)
    }

    /// Forwards to your delegate, with an error that names the reason of a refusal.
    public func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {
        forwarded.flatMap { offered($0.webView(_:didFailProvisionalNavigation:withError:)) }?(
            webView, navigation, rejections.explain(error, url: webView.url, since: start))
    }

    /// Forwards to your delegate, with an error that names the reason of a refusal.
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
        forwarded.flatMap { offered($0.webView(_:didFail:withError:)) }?(
            webView, navigation, rejections.explain(error, url: webView.url, since: start))
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {
        start = rejections.mark
        forwarded.flatMap { offered($0.webView(_:didStartProvisionalNavigation:)) }?(webView, navigation)
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!
    ) {
        forwarded.flatMap { offered($0.webView(_:didReceiveServerRedirectForProvisionalNavigation:)) }?(
            webView, navigation)
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {
        forwarded.flatMap { offered($0.webView(_:didCommit:)) }?(webView, navigation)
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
        forwarded.flatMap { offered($0.webView(_:didFinish:)) }?(webView, navigation)
    }

    /// Forwards to your delegate; without its method, loads the page again, at most once in 30 seconds.
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
        if let handler = forwarded.flatMap({ offered($0.webViewWebContentProcessDidTerminate(_:)) }) {
            return handler(webView)
        }
        // A web view whose delegate has no such method loads the page again, and not for ever.
        let now = DispatchTime.now()
        guard lastReload.map({ now > $0 + .seconds(30) }) ?? true else { return }
        lastReload = now
        webView.reload()
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload
    ) {
        forwarded.flatMap { offered($0.webView(_:navigationAction:didBecome:)) }?(webView, navigationAction, download)
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload
    ) {
        forwarded.flatMap { offered($0.webView(_:navigationResponse:didBecome:)) }?(
            webView, navigationResponse, download)
    }
}

// Of two forms of one question the system asks the longer one, where there is one: so your delegate may have either.
extension WebViewTrustDelegate {
    private typealias AnswerToAction = @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    private typealias AnswerWithPreferences =
        @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    private typealias AskAboutAction = (WKWebView, WKNavigationAction, @escaping AnswerToAction) -> Void
    private typealias AnswerToResponse = @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    private typealias AskAboutResponse =
        (
            WKWebView, WKNavigationResponse, @escaping AnswerToResponse
        ) -> Void

    /// Cancels a page or frame that would come over `http` from a host that the policy covers. For the page itself, your
    /// delegate's `didFailProvisionalNavigation` gets the error, with no navigation: the system made none. Everything else is
    /// your delegate's to decide.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    ) {
        let decide: AnswerWithPreferences = { [weak self] answer, preferences in
            // The policy may have changed while your delegate decided.
            guard answer != .cancel, let self, let error = self.plainHTTPError(of: navigationAction) else {
                return decisionHandler(answer, preferences)
            }
            decisionHandler(.cancel, preferences)
            guard navigationAction.targetFrame?.isMainFrame == true else { return }
            self.forwarded.flatMap { offered($0.webView(_:didFailProvisionalNavigation:withError:)) }?(
                webView, nil, error)
        }
        guard plainHTTPError(of: navigationAction) == nil else { return decide(.allow, preferences) }
        ask(webView, navigationAction, preferences, decide)
    }

    /// Returns the error of a navigation that would send in the clear to a host that the policy covers.
    private func plainHTTPError(of action: WKNavigationAction) -> URLError? {
        guard let url = action.request.url, !policy.allowsPlainHTTP(to: url) else { return nil }
        let alias = url.host.flatMap { try? ServerName($0) }.flatMap { AddressAlias($0) }
        return PinningSessionDelegate.plainError(alias.map { .alias($0) } ?? .plainHTTP, url)
    }

    private func ask(
        _ webView: WKWebView, _ navigationAction: WKNavigationAction, _ preferences: WKWebpagePreferences,
        _ decisionHandler: @escaping AnswerWithPreferences
    ) {
        if let ask = forwarded.flatMap({ offered($0.webView(_:decidePolicyFor:preferences:decisionHandler:)) }) {
            return ask(webView, navigationAction, preferences, decisionHandler)
        }
        // As the system does by itself: a link that says `download` is no page.
        let standard: WKNavigationActionPolicy = navigationAction.shouldPerformDownload ? .download : .allow
        guard let forwarded else { return decisionHandler(standard, preferences) }
        let short: AskAboutAction? = forwarded.webView(_:decidePolicyFor:decisionHandler:)
        guard let short else { return decisionHandler(standard, preferences) }
        short(webView, navigationAction) { decisionHandler($0, preferences) }
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        // As the system does by itself: what a web view cannot show it does not load.
        let standard: WKNavigationResponsePolicy = navigationResponse.canShowMIMEType ? .allow : .cancel
        guard let forwarded else { return decisionHandler(standard) }
        let ask: AskAboutResponse? = forwarded.webView(_:decidePolicyFor:decisionHandler:)
        guard let ask else { return decisionHandler(standard) }
        ask(webView, navigationResponse, decisionHandler)
    }
}
#endif
