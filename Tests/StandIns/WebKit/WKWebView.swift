public import Foundation
public import Security

/// Loads documents and asks its delegate about servers. It renders nothing, and loads no images, frames or scripts.
@MainActor open class WKWebView: NSObject {
    public weak var navigationDelegate: (any WKNavigationDelegate)?
    public private(set) var url: URL?
    /// What came last; Apple's shows it.
    public private(set) var document: Data?

    public override init() {}

    @discardableResult
    open func load(_ request: URLRequest) -> WKNavigation? {
        let navigation = WKNavigation()
        Task { await load(request, navigation) }
        return navigation
    }

    /// How often ``reload()`` was called; Apple's does not tell.
    public private(set) var reloadCount = 0

    @discardableResult
    open func reload() -> WKNavigation? {
        reloadCount += 1
        return url.flatMap { load(URLRequest(url: $0)) }
    }

    private func load(_ request: URLRequest, _ navigation: WKNavigation) async {
        let action = WKNavigationAction(request: request)
        let policy: WKNavigationActionPolicy = await withCheckedContinuation { continuation in
            guard let delegate = navigationDelegate else { return continuation.resume(returning: .allow) }
            delegate.webView(self, decidePolicyFor: action, preferences: WKWebpagePreferences()) { policy, _ in
                continuation.resume(returning: policy)
            }
        }
        guard policy == .allow else { return }
        url = request.url
        navigationDelegate?.webView(self, didStartProvisionalNavigation: navigation)
        let session = URLSession(configuration: .ephemeral, delegate: Bridge(self), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        do {
            let (data, response) = try await session.data(for: request)
            let answer = WKNavigationResponse(response: response)
            let policy: WKNavigationResponsePolicy = await withCheckedContinuation { continuation in
                guard let delegate = navigationDelegate else { return continuation.resume(returning: .allow) }
                delegate.webView(self, decidePolicyFor: answer) { continuation.resume(returning: $0) }
            }
            guard policy == .allow else { return }
            document = data
            navigationDelegate?.webView(self, didCommit: navigation)
            navigationDelegate?.webView(self, didFinish: navigation)
        } catch {
            navigationDelegate?.webView(self, didFailProvisionalNavigation: navigation, withError: error)
        }
    }

    fileprivate func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let delegate = navigationDelegate else { return completionHandler(.performDefaultHandling, nil) }
        delegate.webView(self, didReceive: challenge) { completionHandler($0, $1) }
    }
}

/// Takes the session's questions to the main queue.
private final class Bridge: NSObject, URLSessionDelegate {
    private let webView: WKWebView

    init(_ webView: WKWebView) {
        self.webView = webView
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task { @MainActor in webView.answer(challenge, completionHandler) }
    }
}
