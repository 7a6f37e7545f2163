#if !os(tvOS) && !os(watchOS)
import Foundation
import Pintle
import WebKit

/// The navigation delegate of a web view, which checks servers against a policy: the page's server, and those of its
/// images, frames and scripts.
///
///     trust = WebViewTrustDelegate(policy, forwardingTo: self)
///     webView.navigationDelegate = trust
///
/// A web view does not retain its delegate, and this delegate does not retain yours: keep both. Your delegate gets the
/// calls of `WKNavigationDelegate` in the SDK of iOS 27, except those about a server's trust. A method of a later SDK
/// is not forwarded, because it may decide about trust.
///
/// If the server of a page is refused, the page fails with a `URLError`, in which `TrustRejection(underlying:)` finds
/// the reason. If the server of a part of the page is refused, that part is missing, and only the observer gets the
/// reason. The evaluation does not block the main queue. Private anchors and approved servers work as in a session.
///
/// The delegate cancels a page or frame over `http` from a host that the policy covers, even if the policy covers the
/// host only when the response arrives. It also cancels a page that a covered host redirects from `https` to `http`.
/// WebKit does not ask about images, scripts and other parts of a page. Keep App Transport Security on, which refuses
/// them over `http`.
///
/// A download of the web view asks a delegate of its own: see ``download(_:didReceive:completionHandler:)``. So does a
/// window that your `WKUIDelegate` makes for the page: set this delegate in it too. One delegate may serve several web
/// views.
///
/// A service worker or a media element may load through other processes of the system. The system decides whether those
/// processes ask this delegate.
@MainActor
public final class WebViewTrustDelegate: NSObject {
    /// The load of a page, from its start until WebKit commits the page or the load fails.
    struct OpenLoad: Sendable {
        /// The error of a navigation that was cancelled during the load, until your delegate gets it.
        var refusal: URLError?
        /// A Boolean value that indicates whether the load began at, or was redirected to, the `https` of a covered
        /// host.
        var isFromCoveredHost: Bool
    }

    let source: any PolicySource
    weak var forwarded: (any WKNavigationDelegate)?
    let rejections = RejectionLog()
    private let evaluator: ServerTrustEvaluator
    private let observer: @Sendable (TrustEvaluation) -> Void
    // An app may use one delegate for several web views, so the state of a load belongs to its web view.
    /// The marks of the rejection log at which loads began.
    private var starts = WeakTable<WKWebView, Int>(capacity: 1_024)
    /// The open loads.
    var loads = WeakTable<WKWebView, OpenLoad>(capacity: 1_024)
    /// The marks of the rejection log at which downloads first asked about a server.
    private var downloads = WeakTable<WKDownload, Int>(capacity: 1_024)
    /// The times of the last reloads after WebKit's process for a page ended.
    var lastReloads = WeakTable<WKWebView, DispatchTime>(capacity: 1_024)

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - source: A policy, or a source that can replace its policy; asked before each decision. There is one for each
    ///     connection, which the web views of a data store share. An accepted one stays in use when the policy changes:
    ///     make a web view with a new data store.
    ///   - delegate: Your delegate. It is not retained.
    ///   - observer: A closure that gets each verdict, on the thread that evaluated it. `PintleURLSession` has an
    ///     initializer whose observer is a `PinReporter` or another `TrustEventObserver`.
    public convenience init(
        _ source: some PolicySource,
        forwardingTo delegate: (any WKNavigationDelegate)? = nil,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        self.init(source, ServerTrustEvaluator(source: source), forwardingTo: delegate, observer: observer)
    }

    /// - Parameters:
    ///   - source: The source of the policy.
    ///   - evaluator: An evaluator for the same source, whose handlers get the failures.
    package init(
        _ source: any PolicySource, _ evaluator: ServerTrustEvaluator,
        forwardingTo delegate: (any WKNavigationDelegate)?,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        self.source = source
        self.evaluator = evaluator
        forwarded = delegate
        self.observer = observer
    }

    var policy: PinningPolicy { source.current.policy }

    /// Records that a load of a web view begins, or will. The load begins with the first of these calls after the last
    /// load ended: WebKit may connect to a page's server, and so ask about it, before it reports the page's start.
    func recordStart(in webView: WKWebView) {
        starts[webView] = starts[webView] ?? rejections.mark
    }

    /// Records that the load of a web view has ended.
    ///
    /// - Returns: The mark at which it began; the current one if its start was not recorded.
    @discardableResult
    func recordEnd(in webView: WKWebView) -> Int { starts.removeValue(for: webView) ?? rejections.mark }

    /// Records when a download first asked about a server. The entry stays if the app never calls ``explain(_:of:)``.
    func recordStart(of download: WKDownload) {
        downloads[download] = downloads[download] ?? rejections.mark
    }

    func removeStart(of download: WKDownload) -> Int? { downloads.removeValue(for: download) }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        let (handed, evaluator, observer, rejections) = (Handed(challenge), evaluator, observer, rejections)
        TrustQueue.async {
            let challenge = handed.value
            let answer = evaluator.evaluate(challenge)
            if let evaluation = answer.evaluation { observer(evaluation) }
            if let server = challenge.server { rejections.record(answer.rejection, of: server) }
            let given = Handed((answer.disposition, answer.credential))
            Task { @MainActor in completionHandler(given.value.0, given.value.1) }
        }
    }
}

// MARK: Downloads

/// Methods for your `WKDownloadDelegate`. A download asks its own delegate about servers and redirects, never the web
/// view's. So your `WKDownloadDelegate` has to forward these calls; otherwise only the system checks the download's
/// server:
///
///     func download(
///         _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
///         completionHandler:
///             @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
///     ) {
///         trust.download(download, didReceive: challenge, completionHandler: completionHandler)
///     }
extension WebViewTrustDelegate {
    /// Answers a challenge about a download's server by the policy. A host that the policy covers gets no client
    /// certificate. Other challenges get the system's default handling. So answer challenges for passwords and client
    /// certificates before you forward.
    ///
    /// - Parameters:
    ///   - download: The download whose delegate was asked.
    ///   - challenge: The challenge that the delegate got.
    ///   - completionHandler: The delegate's completion handler. It is called once, on the main actor.
    public func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        guard challenge.isAboutServerTrust else {
            return completionHandler(challenge.defaultDisposition(policy), nil)
        }
        recordStart(of: download)
        answer(challenge, completionHandler)
    }

    /// Cancels a redirect from `https` to `http`, and one over `http` to a host that the policy covers. Allows all
    /// others.
    ///
    /// - Parameters:
    ///   - download: The download whose delegate was asked.
    ///   - response: The redirect.
    ///   - request: The next request.
    ///   - decisionHandler: The delegate's decision handler. It is called once, before this method returns.
    public func download(
        _ download: WKDownload, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        decisionHandler: @escaping @MainActor @Sendable (WKDownload.RedirectPolicy) -> Void
    ) {
        decisionHandler(policy.allowsRedirect(from: response.url, to: request.url) ? .allow : .cancel)
    }

    /// Returns the error of a download with the reason inside, for `TrustRejection(underlying:)`, if the download's
    /// server was refused. Otherwise returns the error unchanged.
    ///
    /// - Parameters:
    ///   - error: The error that `download(_:didFailWithError:resumeData:)` got.
    ///   - download: The download that failed.
    public func explain(_ error: any Error, of download: WKDownload) -> any Error {
        guard let mark = removeStart(of: download) else { return error }
        return rejections.explain(error, url: download.originalRequest?.url, since: mark)
    }
}
#endif
