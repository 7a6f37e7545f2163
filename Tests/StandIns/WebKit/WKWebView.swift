public import Foundation
public import URLLoading

/// A web view that loads documents and asks its delegate about servers. It renders nothing, and loads no images, frames
/// or scripts.
@MainActor open class WKWebView: NSObject {
    public weak var navigationDelegate: (any WKNavigationDelegate)?
    public weak var uiDelegate: (any WKUIDelegate)?
    public let configuration: WKWebViewConfiguration
    public private(set) var url: URL?
    /// The last document, which Apple's web view would render.
    public private(set) var document: Data?

    /// Makes the view connect to a page's server before it asks about the page, as WebKit may do. Apple's web view
    /// decides that by itself.
    public var connectsAhead = false

    public init(frame: CGRect, configuration: WKWebViewConfiguration) {
        self.configuration = configuration
    }

    public override convenience init() { self.init(frame: .zero, configuration: WKWebViewConfiguration()) }

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

    /// Opens a window, as a page does with `window.open`, and loads a page in it.
    ///
    /// - Returns: The window; `nil` if a delegate refuses it.
    public func openWindow(_ request: URLRequest) async -> WKWebView? {
        let action = WKNavigationAction(request: request, isMainFrame: nil)
        guard await decide(about: action) == .allow else { return nil }
        let window = uiDelegate?.webView(
            self, createWebViewWith: configuration, for: action, windowFeatures: WKWindowFeatures())
        if let window { await window.load(request, WKNavigation()) }
        return window
    }

    private func load(_ request: URLRequest, _ navigation: WKNavigation) async {
        let connection = connectsAhead && request.url?.scheme == "https" ? ConnectionAhead() : nil
        let session = URLSession(
            configuration: .ephemeral, delegate: Bridge(self, navigation, connection), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let loading = connection.map { connection in
            Task {
                defer { connection.noteAnswer() }
                return try await session.data(for: request)
            }
        }
        await connection?.waitForAnswer()
        guard await decide(about: WKNavigationAction(request: request)) == .allow else {
            loading?.cancel()
            return
        }
        url = request.url
        isInterrupted = false
        navigationDelegate?.webView(self, didStartProvisionalNavigation: navigation)
        connection?.use()
        do {
            let (data, response) =
                if let loading { try await loading.value } else { try await session.data(for: request) }
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

    private func decide(about action: WKNavigationAction) async -> WKNavigationActionPolicy {
        await withCheckedContinuation { continuation in
            guard let delegate = navigationDelegate else { return continuation.resume(returning: .allow) }
            delegate.webView(self, decidePolicyFor: action, preferences: WKWebpagePreferences()) { policy, _ in
                continuation.resume(returning: policy)
            }
        }
    }

    /// Asks the delegate about a redirect, as about the first request.
    fileprivate func allowsRedirect(to request: URLRequest, _ navigation: WKNavigation) async -> Bool {
        guard await decide(about: WKNavigationAction(request: request)) == .allow else {
            isInterrupted = true
            return false
        }
        url = request.url
        navigationDelegate?.webView(self, didReceiveServerRedirectForProvisionalNavigation: navigation)
        return true
    }

    fileprivate func answer(
        _ challenge: URLAuthenticationChallenge, _ connection: ConnectionAhead?,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let delegate = navigationDelegate else { return completionHandler(.performDefaultHandling, nil) }
        delegate.webView(self, didReceive: challenge) { disposition, credential in
            guard let connection else { return completionHandler(disposition, credential) }
            connection.answer(isRefused: disposition == .cancelAuthenticationChallenge) {
                completionHandler(disposition, credential)
            }
        }
    }
}

/// A connection that the view made before the page's start. The page uses it later, and then asks no delegate again.
/// Until then a trusted server gets no request.
@MainActor private final class ConnectionAhead {
    private let answers = AsyncStream<Void>.makeStream()
    private var isUsed = false
    private var waiting: (@MainActor () -> Void)?

    /// Waits until the delegate has answered, or the connection has failed before it was asked.
    func waitForAnswer() async { for await _ in answers.stream { return } }

    func noteAnswer() { answers.continuation.yield() }

    func answer(isRefused: Bool, _ proceed: @escaping @MainActor () -> Void) {
        if isRefused || isUsed { proceed() } else { waiting = proceed }
        noteAnswer()
    }

    /// Lets the page use the connection.
    func use() {
        isUsed = true
        waiting?()
        waiting = nil
    }
}

/// A delegate that passes the session's questions to the main queue.
private final class Bridge: NSObject, URLSessionTaskDelegate {
    private let webView: WKWebView
    private let navigation: WKNavigation
    private let connection: ConnectionAhead?

    init(_ webView: WKWebView, _ navigation: WKNavigation, _ connection: ConnectionAhead?) {
        self.webView = webView
        self.navigation = navigation
        self.connection = connection
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task { @MainActor in webView.answer(challenge, connection, completionHandler) }
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
