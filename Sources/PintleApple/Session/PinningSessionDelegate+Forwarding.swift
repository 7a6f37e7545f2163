import Foundation
import Pintle

extension PinningSessionDelegate: URLSessionDataDelegate {
    private var data: Receivers<any URLSessionDataDelegate> {
        Receivers(first: forwarded as? any URLSessionDataDelegate, second: fallback as? any URLSessionDataDelegate)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard arrivalError(of: dataTask, response) == nil else { return completionHandler(.cancel) }
        guard
            let ask = data.flatMap({ offered($0.urlSession(_:dataTask:didReceive:completionHandler:)) })
        else { return completionHandler(.allow) }
        ask(session, dataTask, response, completionHandler)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !isRefusedOnArrival(dataTask) else { return }
        self.data.flatMap { offered($0.urlSession(_:dataTask:didReceive:)) }?(session, dataTask, data)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        let tell: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? = data.flatMap {
            offered($0.urlSession(_:dataTask:didBecome:))
        }
        tell?(session, dataTask, downloadTask)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard !isRefusedOnArrival(dataTask) else { return completionHandler(nil) }
        guard
            let ask = data.flatMap({ offered($0.urlSession(_:dataTask:willCacheResponse:completionHandler:)) })
        else { return completionHandler(proposedResponse) }
        ask(session, dataTask, proposedResponse, completionHandler)
    }
}

extension PinningSessionDelegate: URLSessionDownloadDelegate {
    private var downloads: Receivers<any URLSessionDownloadDelegate> {
        Receivers(
            first: forwarded as? any URLSessionDownloadDelegate, second: fallback as? any URLSessionDownloadDelegate)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard !isRefusedOnArrival(downloadTask) else { return }
        let receiver = downloads.flatMap { $0 }
        receiver?.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloads.flatMap {
            offered($0.urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:))
        }?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloads.flatMap {
            offered($0.urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:))
        }?(session, downloadTask, fileOffset, expectedTotalBytes)
    }
}

extension PinningSessionDelegate: URLSessionWebSocketDelegate {
    private var webSockets: Receivers<any URLSessionWebSocketDelegate> {
        Receivers(
            first: forwarded as? any URLSessionWebSocketDelegate, second: fallback as? any URLSessionWebSocketDelegate)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        webSockets.flatMap { offered($0.urlSession(_:webSocketTask:didOpenWithProtocol:)) }?(
            session, webSocketTask, `protocol`)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        webSockets.flatMap { offered($0.urlSession(_:webSocketTask:didCloseWith:reason:)) }?(
            session, webSocketTask, closeCode, reason)
    }
}

/// Two delegates, of which the first that implements a method gets the call. The system does the same with the
/// delegates of a task and of its session.
struct Receivers<Delegate> {
    let first: Delegate?
    let second: Delegate?

    func flatMap<Method>(_ method: (Delegate) -> Method?) -> Method? {
        first.flatMap(method) ?? second.flatMap(method)
    }
}

/// Returns a method that a delegate may not have. Apple's protocols declare such methods as optional.
func offered<Method>(_ method: Method?) -> Method? { method }
