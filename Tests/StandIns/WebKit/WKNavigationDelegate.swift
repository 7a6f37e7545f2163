// The headers of Apple's WebKit include Foundation, so that WebKit exports it.
public import Foundation
@_exported public import URLLoading

public enum WKNavigationActionPolicy: Int, Sendable {
    case cancel, allow, download
}

public enum WKNavigationResponsePolicy: Int, Sendable {
    case cancel, allow, download
}

@MainActor open class WKWebpagePreferences: NSObject {}
@MainActor open class WKNavigation: NSObject {}

@MainActor open class WKFrameInfo: NSObject {
    public let isMainFrame: Bool

    init(isMainFrame: Bool) {
        self.isMainFrame = isMainFrame
    }
}

@MainActor open class WKNavigationAction: NSObject {
    public let request: URLRequest
    public let shouldPerformDownload: Bool
    public let targetFrame: WKFrameInfo?

    /// - Parameter isMainFrame: `nil` for a new window, which has no frame yet.
    init(request: URLRequest, shouldPerformDownload: Bool = false, isMainFrame: Bool? = true) {
        self.request = request
        self.shouldPerformDownload = shouldPerformDownload
        targetFrame = isMainFrame.map { WKFrameInfo(isMainFrame: $0) }
    }

    /// Makes an action for tests. In Apple's module only the web view makes actions.
    public static func asked(
        _ request: URLRequest, shouldPerformDownload: Bool = false, isMainFrame: Bool? = true
    ) -> WKNavigationAction {
        WKNavigationAction(
            request: request, shouldPerformDownload: shouldPerformDownload, isMainFrame: isMainFrame)
    }
}

@MainActor open class WKNavigationResponse: NSObject {
    public let response: URLResponse
    public let canShowMIMEType = true
    public let isForMainFrame: Bool

    init(response: URLResponse, isForMainFrame: Bool = true) {
        self.response = response
        self.isForMainFrame = isForMainFrame
    }

    /// Makes a response for tests. In Apple's module only the web view makes responses.
    public static func arrived(_ response: URLResponse, isForMainFrame: Bool) -> WKNavigationResponse {
        WKNavigationResponse(response: response, isForMainFrame: isForMainFrame)
    }
}

/// A page of a web view's history.
@MainActor open class WKBackForwardListItem: NSObject {
    public let url: URL

    init(url: URL) {
        self.url = url
    }

    /// Makes an item for tests. In Apple's module only the web view makes items.
    public static func visited(_ url: URL) -> WKBackForwardListItem { WKBackForwardListItem(url: url) }
}

/// A form that a page is about to submit.
@MainActor open class WKFormInfo: NSObject {
    public let submissionURL: URL

    init(submissionURL: URL) {
        self.submissionURL = submissionURL
    }

    /// Makes a form for tests. In Apple's module only the web view makes forms.
    public static func filled(_ url: URL) -> WKFormInfo { WKFormInfo(submissionURL: url) }
}

// As in the session delegates, each optional method has a default implementation that does what happens without the
// method.
@MainActor public protocol WKNavigationDelegate: NSObjectProtocol {
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void)
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void)
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void)
    func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!)
    func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
    func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void)
    func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
    func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void)
    func webView(_ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload)
    func webView(_ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload)
    func webView(
        _ webView: WKWebView, shouldGoTo backForwardListItem: WKBackForwardListItem, willUseInstantBack: Bool,
        completionHandler: @escaping (Bool) -> Void)
    func webView(
        _ webView: WKWebView, willSubmitForm formInfo: WKFormInfo,
        submissionHandler: @escaping @MainActor @Sendable () -> Void)
}

extension WKNavigationDelegate {
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) {
        decisionHandler(.allow)
    }
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    ) {
        self.webView(webView, decidePolicyFor: navigationAction) { decisionHandler($0, preferences) }
    }
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        decisionHandler(.allow)
    }
    public func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {}
    public func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!
    ) {}
    public func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {}
    public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {}
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {}
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {}
    public func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {}
    public func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        decisionHandler(false)
    }
    public func webView(_ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload) {}
    public func webView(
        _ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload
    ) {}
    public func webView(
        _ webView: WKWebView, shouldGoTo backForwardListItem: WKBackForwardListItem, willUseInstantBack: Bool,
        completionHandler: @escaping (Bool) -> Void
    ) {
        completionHandler(true)
    }
    public func webView(
        _ webView: WKWebView, willSubmitForm formInfo: WKFormInfo,
        submissionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        submissionHandler()
    }
}
