#if !os(tvOS) && !os(watchOS)
import Foundation
import Pintle
import WebKit

extension WebViewTrustDelegate: WKNavigationDelegate {
    /// Answers challenges about a server's trust by the policy. Other challenges go to your delegate.
    public func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        if challenge.isAboutServerTrust {
            recordStart(in: webView)
            return answer(challenge, completionHandler)
        }
        guard let ask = forwarded.flatMap({ offered($0, $0.webView(_:didReceive:completionHandler:)) }) else {
            // The default of a web view. The system checks a proxy.
            let isTrust = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
            return completionHandler(isTrust ? .performDefaultHandling : .rejectProtectionSpace, nil)
        }
        ask(webView, challenge, completionHandler)
    }

    /// Refuses TLS 1.0 and 1.1.
    public func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        decisionHandler(false)
    }

    /// Forwards to your delegate, with an error that has the reason for a refusal. If this delegate cancelled a
    /// redirect or a response, its error replaces WebKit's "Frame load interrupted".
    public func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {
        let refusal = loads.removeValue(for: webView)?.refusal
        let start = recordEnd(in: webView)
        if let refusal, Self.isInterruption(error) { return fail(webView, navigation, refusal) }
        fail(webView, navigation, rejections.explain(error, url: webView.url, since: start))
        if let refusal { fail(webView, nil, refusal) }
    }

    /// Forwards to your delegate, with an error that has the reason for a refusal.
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
        let explained = rejections.explain(error, url: webView.url, since: recordEnd(in: webView))
        forwarded.flatMap { offered($0, $0.webView(_:didFail:withError:)) }?(webView, navigation, explained)
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {
        recordStart(in: webView)
        let refusal = loads.removeValue(for: webView)?.refusal
        loads[webView] = OpenLoad(isFromCoveredHost: policy.coversHTTPS(of: webView.url))
        if let refusal { fail(webView, nil, refusal) }
        forwarded.flatMap { offered($0, $0.webView(_:didStartProvisionalNavigation:)) }?(webView, navigation)
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!
    ) {
        if policy.coversHTTPS(of: webView.url) { loads[webView]?.isFromCoveredHost = true }
        forwarded.flatMap { offered($0, $0.webView(_:didReceiveServerRedirectForProvisionalNavigation:)) }?(
            webView, navigation)
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {
        let refusal = loads.removeValue(for: webView)?.refusal
        forwarded.flatMap { offered($0, $0.webView(_:didCommit:)) }?(webView, navigation)
        if let refusal { fail(webView, nil, refusal) }
    }

    /// Forwards to your delegate.
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
        recordEnd(in: webView)
        forwarded.flatMap { offered($0, $0.webView(_:didFinish:)) }?(webView, navigation)
    }

    /// Forwards to your delegate. If it does not implement this method, loads the page again, at most once in 30
    /// seconds.
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
        recordEnd(in: webView)
        if let refusal = loads.removeValue(for: webView)?.refusal { fail(webView, nil, refusal) }
        if let handler = forwarded.flatMap({ offered($0, $0.webViewWebContentProcessDidTerminate(_:)) }) {
            return handler(webView)
        }
        // By default a web view loads the page again. The limit prevents an endless loop.
        let now = DispatchTime.now()
        guard lastReloads[webView].map({ now > $0 + .seconds(30) }) ?? true else { return }
        lastReloads[webView] = now
        webView.reload()
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload
    ) {
        forwarded.flatMap { offered($0, $0.webView(_:navigationAction:didBecome:)) }?(
            webView, navigationAction, download)
    }

    /// Forwards to your delegate.
    public func webView(
        _ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload
    ) {
        forwarded.flatMap { offered($0, $0.webView(_:navigationResponse:didBecome:)) }?(
            webView, navigationResponse, download)
    }

    /// Forwards to your delegate. If it does not implement this method, the answer is yes, as without a delegate.
    @available(iOS 26, macOS 26, visionOS 26, *)
    public func webView(
        _ webView: WKWebView, shouldGoTo backForwardListItem: WKBackForwardListItem, willUseInstantBack: Bool,
        completionHandler: @escaping (Bool) -> Void
    ) {
        let ask = forwarded.flatMap {
            offered($0, $0.webView(_:shouldGoTo:willUseInstantBack:completionHandler:))
        }
        guard let ask else { return completionHandler(true) }
        ask(webView, backForwardListItem, willUseInstantBack, completionHandler)
    }

    // The SDK of iOS 27 comes with Swift 6.4. With an older one an app cannot implement the method either.
    #if compiler(>=6.4) || PINTLE_SDK_27
    /// Forwards to your delegate. If it does not implement this method, WebKit goes on at once.
    @available(iOS 27, macOS 27, visionOS 27, *)
    public func webView(
        _ webView: WKWebView, willSubmitForm formInfo: WKFormInfo,
        submissionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        let tell = forwarded.flatMap { offered($0, $0.webView(_:willSubmitForm:submissionHandler:)) }
        guard let tell else { return submissionHandler() }
        tell(webView, formInfo, submissionHandler)
    }
    #endif
}

// WebKit calls the longer one of two methods for the same question if a delegate has it. So your delegate may implement
// either.
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

    /// Cancels the load of a page or frame over `http` from a host that the policy covers. Your delegate decides about
    /// everything else.
    ///
    /// For a page or a new window, your delegate's `didFailProvisionalNavigation` gets a `URLError` with the code
    /// `appTransportSecurityRequiresSecureConnection`, or `badURL` for an alias of an address. Its text gives the
    /// reason. `TrustRejection(underlying:)` finds nothing in it, because no server was checked.
    ///
    /// If the load of the page had already begun, for example before a redirect, the method gets its navigation.
    /// Otherwise it gets `nil`, because WebKit made none.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    ) {
        // Without a frame it is a new window, which is not part of the open load.
        let frame = navigationAction.targetFrame
        // `weak`: the app may release this delegate while its own delegate decides.
        let refuse: @MainActor @Sendable (URLError, WKWebpagePreferences) -> Void = { [weak self] error, preferences in
            guard let self, frame?.isMainFrame ?? true else { return decisionHandler(.cancel, preferences) }
            self.refuse(webView, error, isPartOfLoad: frame != nil) { decisionHandler(.cancel, preferences) }
        }
        // The policy may change at any time. A refusal is final, because your delegate was not asked.
        if let error = Self.plainError(navigationAction.request.url, source) { return refuse(error, preferences) }
        ask(webView, navigationAction, preferences) { [source] answer, preferences in
            // The policy may have changed while your delegate decided.
            guard answer != .cancel, let error = Self.plainError(navigationAction.request.url, source) else {
                return decisionHandler(answer, preferences)
            }
            refuse(error, preferences)
        }
    }

    /// Returns the error of a navigation without TLS: to a host that the policy covers, or after a redirect from such a
    /// host's `https`.
    private static func plainError(
        _ url: URL?, _ source: any PolicySource, isFromCoveredHost: Bool = false
    ) -> URLError? {
        guard let url else { return nil }
        if isFromCoveredHost, url.scheme?.lowercased() == "http" {
            return PinningSessionDelegate.plainError(.insecureRedirect, url)
        }
        guard !source.current.policy.allowsPlainHTTP(to: url) else { return nil }
        let alias = url.host.flatMap { try? ServerName($0) }.flatMap { AddressAlias($0) }
        return PinningSessionDelegate.plainError(alias.map { .alias($0) } ?? .plainHTTP, url)
    }

    /// Cancels a navigation, and passes the error to your delegate. If WebKit ends the open load with an error of its
    /// own, this error replaces it then; otherwise it is passed on at once.
    ///
    /// A link that is cancelled while a page loads looks the same as a redirect of that page. So its error is passed on
    /// when the load ends.
    private func refuse(_ webView: WKWebView, _ error: URLError, isPartOfLoad: Bool, cancel: () -> Void) {
        if isPartOfLoad, let load = loads[webView], load.refusal == nil {
            loads[webView]?.refusal = error
            return cancel()
        }
        cancel()
        fail(webView, nil, error)
    }

    private func fail(_ webView: WKWebView, _ navigation: WKNavigation?, _ error: any Error) {
        forwarded.flatMap {
            offered(
                $0, $0.webView(_:didFailProvisionalNavigation:withError:),
                named: "webView(_:didFailProvisionalNavigation:withError:)")
        }?(webView, navigation, error)
    }

    /// Returns `true` for WebKit's error after a delegate has cancelled a redirect or a response. It is
    /// `WebKitErrorFrameLoadInterruptedByPolicyChange`, a constant that only macOS has.
    private static func isInterruption(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == "WebKitErrorDomain" && error.code == 102
    }

    private func ask(
        _ webView: WKWebView, _ navigationAction: WKNavigationAction, _ preferences: WKWebpagePreferences,
        _ decisionHandler: @escaping AnswerWithPreferences
    ) {
        let ask = forwarded.flatMap {
            offered(
                $0, $0.webView(_:decidePolicyFor:preferences:decisionHandler:),
                named: "webView(_:decidePolicyFor:preferences:decisionHandler:)")
        }
        if let ask {
            return ask(webView, navigationAction, preferences, decisionHandler)
        }
        // The default of a web view: a link with the attribute `download` is downloaded.
        let standard: WKNavigationActionPolicy = navigationAction.shouldPerformDownload ? .download : .allow
        guard let forwarded else { return decisionHandler(standard, preferences) }
        let short: AskAboutAction? = forwarded.webView(_:decidePolicyFor:decisionHandler:)
        guard let short = offered(forwarded, short, named: "webView(_:decidePolicyFor:decisionHandler:)") else {
            return decisionHandler(standard, preferences)
        }
        short(webView, navigationAction) { decisionHandler($0, preferences) }
    }

    /// Cancels the load of a page or frame whose response came over `http` from a host that the policy now covers. Also
    /// cancels a page that a covered host redirected from `https` to `http`. The request was already sent in both
    /// cases.
    ///
    /// For a page, your delegate gets the error, as for a cancelled redirect. Your delegate decides about everything
    /// else.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        let (url, isPage) = (navigationResponse.response.url, navigationResponse.isForMainFrame)
        let isFromCoveredHost = isPage && loads[webView]?.isFromCoveredHost ?? false
        let refuse: @MainActor @Sendable (URLError) -> Void = { [weak self] error in
            guard let self, isPage else { return decisionHandler(.cancel) }
            self.refuse(webView, error, isPartOfLoad: true) { decisionHandler(.cancel) }
        }
        // A refusal is final, because your delegate was not asked.
        if let error = Self.plainError(url, source, isFromCoveredHost: isFromCoveredHost) { return refuse(error) }
        let decide: AnswerToResponse = { [source] answer in
            // The policy may have changed while your delegate decided.
            guard answer != .cancel,
                let error = Self.plainError(url, source, isFromCoveredHost: isFromCoveredHost)
            else { return decisionHandler(answer) }
            refuse(error)
        }
        // The default of a web view: it does not load content that it cannot show.
        let standard: WKNavigationResponsePolicy = navigationResponse.canShowMIMEType ? .allow : .cancel
        guard let forwarded else { return decide(standard) }
        let ask: AskAboutResponse? = forwarded.webView(_:decidePolicyFor:decisionHandler:)
        guard let ask = offered(forwarded, ask) else { return decide(standard) }
        ask(webView, navigationResponse, decide)
    }
}
#endif
