public import Foundation
public import URLLoading

/// A web view that loads documents and asks its delegate about servers. It renders nothing, and loads no images, frames
/// or scripts.
@MainActor open class WKWebView: NSObject {
    public weak var navigationDelegate: (any WKNavigationDelegate)?
    public private(set) var url: URL?
    /// The last document, which Apple's web view would render.
    public private(set) var document: Data?

    public override init() {}

    @discardableResult
    open func load(_ request: URLRequest) -> WKNavigation? {
        let navigation = WKNavigation()
        Task { await load(request, navigation) }
        return navigation
    }

    /// The number of calls of ``reload()``, which Apple's web view does not count.
    public private(set) var reloadCount = 0

    @discardableResult
    open func reload() -> WKNavigation? {
        reloadCount += 1
        return url.flatMap { load(URLRequest(url: $0)) }
    }

    private func load(_ request: URLRequest, _ navigation: WKNavigation) async {
        guard await decide(about: request) == .allow else { return }
        url = request.url
        isInterrupted = false
        navigationDelegate?.webView(self, didStartProvisionalNavigation: navigation)
        let session = URLSession(configuration: .ephemeral, delegate: Bridge(self, navigation), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        do {
            let (data, response) = try await session.data(for: request)
            let answer = WKNavigationResponse(response: response)
            let policy: WKNavigationResponsePolicy = await withCheckedContinuation { continuation in
                guard let delegate = navigationDelegate else { return continuation.resume(returning: .allow) }
                delegate.webView(self, decidePolicyFor: answer) { continuation.resume(returning: $0) }
            }
            if policy == .download {
                navigationDelegate?.webView(self, navigationResponse: answer, didBecome: .idle())
            }
            guard policy == .allow else { throw interruption }
            document = data
            navigationDelegate?.webView(self, didCommit: navigation)
            navigationDelegate?.webView(self, didFinish: navigation)
        } catch {
            navigationDelegate?.webView(
                self, didFailProvisionalNavigation: navigation, withError: isInterrupted ? interruption : error)
        }
    }

    /// A Boolean value that indicates whether a redirect was cancelled.
    private var isInterrupted = false

    /// The error of a load whose redirect or response the delegate cancelled.
    private var interruption: NSError {
        NSError(
            domain: "WebKitErrorDomain", code: 102, userInfo: [NSLocalizedDescriptionKey: "Frame load interrupted"])
    }

    private func decide(about request: URLRequest) async -> WKNavigationActionPolicy {
        let action = WKNavigationAction(request: request)
        return await withCheckedContinuation { continuation in
            guard let delegate = navigationDelegate else { return continuation.resume(returning: .allow) }
            delegate.webView(self, decidePolicyFor: action, preferences: WKWebpagePreferences()) { policy, _ in
                continuation.resume(returning: policy)
            }
        }
    }

    /// Asks the delegate about a redirect, as about the first request.
    fileprivate func allowsRedirect(to request: URLRequest, _ navigation: WKNavigation) async -> Bool {
        guard await decide(about: request) == .allow else {
            isInterrupted = true
            return false
        }
        url = request.url
        navigationDelegate?.webView(self, didReceiveServerRedirectForProvisionalNavigation: navigation)
        return true
    }

    fileprivate func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let delegate = navigationDelegate else { return completionHandler(.performDefaultHandling, nil) }
        delegate.webView(self, didReceive: challenge) { completionHandler($0, $1) }
    }
}

/// A delegate that passes the session's questions to the main queue.
private final class Bridge: NSObject, URLSessionTaskDelegate {
    private let webView: WKWebView
    private let navigation: WKNavigation

    init(_ webView: WKWebView, _ navigation: WKNavigation) {
        self.webView = webView
        self.navigation = navigation
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task { @MainActor in webView.answer(challenge, completionHandler) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        Task { @MainActor in
            guard await webView.allowsRedirect(to: request, navigation) else {
                // Cancel first. Otherwise the task would end with the redirect as its response.
                task.cancel()
                return completionHandler(nil)
            }
            completionHandler(request)
        }
    }
}
