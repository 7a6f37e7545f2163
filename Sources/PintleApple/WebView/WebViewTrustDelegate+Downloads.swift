#if !os(tvOS) && !os(watchOS)
import Foundation
import Pintle
import Security
import WebKit

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
        noteStart(of: download)
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
        guard let mark = takeStart(of: download) else { return error }
        return rejections.explain(error, url: download.originalRequest?.url, since: mark)
    }
}
#endif
