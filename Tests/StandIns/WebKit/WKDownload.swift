public import Foundation
public import URLLoading

/// A download of a web view, which asks a delegate of its own.
@MainActor open class WKDownload: NSObject {
    public enum RedirectPolicy: Int, Sendable {
        case cancel, allow
    }

    public let originalRequest: URLRequest?
    public weak var delegate: (any WKDownloadDelegate)?

    init(_ request: URLRequest) {
        originalRequest = request
    }

    /// Makes a download that loads nothing. Apple's class has no such function.
    public static func idle() -> WKDownload { WKDownload(URLRequest(url: URL(fileURLWithPath: "/"))) }

    /// Runs a download. In Apple's module only a web view makes and runs downloads. Without a delegate nothing is
    /// loaded.
    public static func run(_ request: URLRequest, asking delegate: any WKDownloadDelegate) async {
        let download = WKDownload(request)
        download.delegate = delegate
        let session = URLSession(configuration: .ephemeral, delegate: DownloadBridge(download), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        do {
            let (data, response) = try await session.data(for: request)
            let place: URL? = await withCheckedContinuation { continuation in
                delegate.download(download, decideDestinationUsing: response, suggestedFilename: "file") { place in
                    continuation.resume(returning: place)
                }
            }
            guard let place else { throw URLError(.cancelled) }
            try data.write(to: place)
            delegate.downloadDidFinish(download)
        } catch {
            delegate.download(download, didFailWithError: error, resumeData: nil)
        }
    }
}

@MainActor public protocol WKDownloadDelegate: NSObjectProtocol {
    func download(
        _ download: WKDownload, decideDestinationUsing response: URLResponse, suggestedFilename: String,
        completionHandler: @escaping @MainActor @Sendable (URL?) -> Void)
    func download(
        _ download: WKDownload, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        decisionHandler: @escaping @MainActor @Sendable (WKDownload.RedirectPolicy) -> Void)
    func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void)
    func downloadDidFinish(_ download: WKDownload)
    func download(_ download: WKDownload, didFailWithError error: any Error, resumeData: Data?)
}

extension WKDownloadDelegate {
    public func download(
        _ download: WKDownload, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        decisionHandler: @escaping @MainActor @Sendable (WKDownload.RedirectPolicy) -> Void
    ) {
        decisionHandler(.allow)
    }
    public func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @MainActor @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }
    public func downloadDidFinish(_ download: WKDownload) {}
    public func download(_ download: WKDownload, didFailWithError error: any Error, resumeData: Data?) {}
}

/// A delegate that passes the session's questions to the main queue.
private final class DownloadBridge: NSObject, URLSessionTaskDelegate {
    private let download: WKDownload

    init(_ download: WKDownload) {
        self.download = download
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task { @MainActor in
            guard let delegate = download.delegate else { return completionHandler(.performDefaultHandling, nil) }
            delegate.download(download, didReceive: challenge) { completionHandler($0, $1) }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        Task { @MainActor in
            guard let delegate = download.delegate else { return completionHandler(request) }
            delegate.download(download, willPerformHTTPRedirection: response, newRequest: request) { policy in
                // Cancel first. Otherwise the task would end with the redirect as its response.
                if policy == .cancel { task.cancel() }
                completionHandler(policy == .allow ? request : nil)
            }
        }
    }
}
