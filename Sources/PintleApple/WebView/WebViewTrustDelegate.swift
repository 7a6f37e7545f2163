#if !os(tvOS) && !os(watchOS)
import Foundation
import Pintle
import PintleStorage
import Security
import WebKit

/// The navigation delegate of a web view whose servers a policy decides about: the page's own, and those that it loads
/// images, frames and scripts from.
///
///     trust = WebViewTrustDelegate(policy, forwardingTo: self)
///     webView.navigationDelegate = trust
///
/// A web view does not keep its delegate, and this one does not keep yours: keep both. A page whose server is refused
/// fails with an `URLError` whose reason `TrustRejection(underlying:)` finds; what a page merely loads from a refused
/// server is missing from it, and ``init(_:forwardingTo:observer:)`` has an observer who hears of it. Evaluation is done
/// away from the main queue. Private anchors and approved servers load as in a session.
///
/// A page or frame over `http` from a host that the policy covers is cancelled, also if the policy covers the host only by the
/// time the response arrives. So is a page that a covered host redirects from `https` to `http`. WebKit does not ask about
/// images, scripts and other parts of a page. Keep App Transport Security on, which refuses them over `http`.
///
/// A download of the web view asks a delegate of its own: see ``download(_:didReceive:completionHandler:)``.
///
/// A service worker or a media element may load through other processes of the system: what they ask, and whether they do,
/// is the system's to say.
@MainActor
public final class WebViewTrustDelegate: NSObject {
    /// A page's load, from its start until WebKit commits the page or the load fails.
    struct OpenLoad: Sendable {
        /// The error of a navigation that was cancelled during the load and that your delegate has not got yet.
        var refusal: URLError?
        /// A Boolean value that indicates whether the load began at, or was redirected to, the `https` of a covered host.
        var isFromCoveredHost: Bool
    }

    let source: any PolicySource
    weak var forwarded: (any WKNavigationDelegate)?
    let rejections = RejectionLog()
    private let observer: @Sendable (TrustEvaluation) -> Void
    /// When the page's loading began.
    var start = 0
    /// The open loads; an app may give one delegate to several web views.
    var loads = WeakTable<WKWebView, OpenLoad>(capacity: 1_024)
    /// When downloads first asked about a server.
    private var downloads = WeakTable<WKDownload, Int>(capacity: 1_024)
    /// When a page was last loaded again because its process was lost.
    var lastReload: DispatchTime?

    /// - Parameters:
    ///   - source: a policy, or what replaces one while it is in use; asked before each decision.
    ///   - store: the approvals, for a policy that asks (`askUser`): let the page fail, ask, approve, load again.
    ///   - delegate: is told of everything else; not kept.
    ///   - observer: is told of each verdict, on the thread that came to it.
    public init(
        _ source: some PolicySource, approvals store: TrustApprovalStore? = nil,
        forwardingTo delegate: (any WKNavigationDelegate)? = nil,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        self.source = ApprovedPolicy.source(source, store)
        forwarded = delegate
        self.observer = observer
    }

    var policy: PinningPolicy { source.current.policy }

    /// An entry stays where the app does not call ``explain(_:of:)`` for the download.
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
        let (handed, source, observer, rejections) = (Handed(challenge), source, observer, rejections)
        TrustQueue.async {
            let challenge = handed.value
            let answer = ServerTrustEvaluator(source.current).evaluate(challenge)
            if let evaluation = answer.evaluation { observer(evaluation) }
            if let server = challenge.server { rejections.record(answer.rejection, of: server) }
            let given = Handed((answer.disposition, answer.credential))
            Task { @MainActor in completionHandler(given.value.0, given.value.1) }
        }
    }
}

// MARK: Downloads

/// Answers for downloads. A download asks its own delegate about servers and redirects, and never the web view's. So your
/// `WKDownloadDelegate` has to forward these questions, or only the system decides about the download's server:
///
///     func download(
///         _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
///         completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
///     ) {
///         trust.download(download, didReceive: challenge, completionHandler: completionHandler)
///     }
extension WebViewTrustDelegate {
    /// Answers a question about a download's server by the policy. Everything else gets the system's default handling:
    /// answer passwords and client certificates before you forward.
    ///
    /// - Parameters:
    ///   - download: whose delegate was asked.
    ///   - challenge: what it was asked.
    ///   - completionHandler: called once, on the main actor.
    public func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        guard challenge.isAboutServerTrust else { return completionHandler(.performDefaultHandling, nil) }
        recordStart(of: download)
        answer(challenge, completionHandler)
    }

    /// Cancels a redirect from `https` to `http`, and one over `http` to a host that the policy covers. Allows the others.
    ///
    /// - Parameters:
    ///   - download: whose delegate was asked.
    ///   - response: the redirect.
    ///   - request: what would be asked next.
    ///   - decisionHandler: called once, before this returns.
    public func download(
        _ download: WKDownload, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        decisionHandler: @escaping @MainActor @Sendable (WKDownload.RedirectPolicy) -> Void
    ) {
        decisionHandler(policy.allowsRedirect(from: response.url, to: request.url) ? .allow : .cancel)
    }

    /// Returns the error of a download with the reason in it, for `TrustRejection(underlying:)`, where the download's
    /// server was refused; else the error as it is.
    ///
    /// - Parameters:
    ///   - error: what `download(_:didFailWithError:resumeData:)` got.
    ///   - download: the one that failed.
    public func explain(_ error: any Error, of download: WKDownload) -> any Error {
        guard let mark = removeStart(of: download) else { return error }
        return rejections.explain(error, url: download.originalRequest?.url, since: mark)
    }
}
#endif
