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
/// A download of the web view asks a delegate of its own: see ``download(_:didReceive:completionHandler:)``.
///
/// A service worker or a media element may load through other processes of the system: what they ask, and whether they do,
/// is the system's to say.
@MainActor
public final class WebViewTrustDelegate: NSObject {
    private let source: any PolicySource
    weak var forwarded: (any WKNavigationDelegate)?
    let rejections = RejectionLog()
    private let observer: @Sendable (TrustEvaluation) -> Void
    /// When the page's loading began.
    var start = 0
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
    func noteStart(of download: WKDownload) {
        downloads[download] = downloads[download] ?? rejections.mark
    }

    func takeStart(of download: WKDownload) -> Int? { downloads.take(download) }

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
            if let server = challenge.server { rejections.note(answer.rejection, of: server) }
            let given = Handed((answer.disposition, answer.credential))
            Task { @MainActor in completionHandler(given.value.0, given.value.1) }
        }
    }
}
#endif
