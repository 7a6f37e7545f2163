// Pins a web view.

// Compiled on Apple's systems, and on Linux by `make test-apple`, with stand-ins for their modules.
#if canImport(PintleApple) && canImport(WebKit)
import PintleURLSession
import WebKit

/// Retains the trust delegate, because a web view does not.
@MainActor
final class Browser: NSObject, WKNavigationDelegate {
    private let webView: WKWebView
    private var trust: WebViewTrustDelegate?

    init(_ webView: WKWebView) {
        self.webView = webView
    }

    func open(_ url: URL, _ policy: PinningPolicy) {
        // snippet.webView
        let trust = WebViewTrustDelegate(policy, forwardingTo: self)
        webView.navigationDelegate = trust
        self.trust = trust
        webView.load(URLRequest(url: url))
        // snippet.end
    }

    func open(_ url: URL, _ policy: PinningPolicy, _ reporter: any TrustEventObserver) {
        trust = WebViewTrustDelegate(policy, forwardingTo: self, observer: reporter)
        webView.navigationDelegate = trust
        webView.load(URLRequest(url: url))
    }
}
#endif
