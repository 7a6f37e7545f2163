import Foundation
import Pintle

extension PinningSessionDelegate: URLSessionDataDelegate {
    private var dataDelegate: (any URLSessionDataDelegate)? { forwarded as? any URLSessionDataDelegate }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let pins = pins(session)
        guard pins.arrivalError(of: dataTask, response) == nil else { return completionHandler(.cancel) }
        guard
            let ask = receivers(pins, (any URLSessionDataDelegate).self).flatMap({
                offered($0, $0.urlSession(_:dataTask:didReceive:completionHandler:))
            })
        else { return completionHandler(.allow) }
        ask(session, dataTask, response, completionHandler)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !isRefusedOnArrival(dataTask, in: session) else { return }
        dataDelegate.flatMap { offered($0, $0.urlSession(_:dataTask:didReceive:)) }?(session, dataTask, data)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        let tell: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? = dataDelegate.flatMap {
            offered($0, $0.urlSession(_:dataTask:didBecome:))
        }
        tell?(session, dataTask, downloadTask)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        let tell: ((URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void)? = dataDelegate.flatMap {
            offered($0, $0.urlSession(_:dataTask:didBecome:))
        }
        tell?(session, dataTask, streamTask)
    }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard !isRefusedOnArrival(dataTask, in: session) else { return completionHandler(nil) }
        guard
            let ask = dataDelegate.flatMap({
                offered($0, $0.urlSession(_:dataTask:willCacheResponse:completionHandler:))
            })
        else { return completionHandler(proposedResponse) }
        ask(session, dataTask, proposedResponse, completionHandler)
    }

    private func isRefusedOnArrival(_ task: URLSessionTask, in session: URLSession) -> Bool {
        pins(session).arrivalError(of: task, task.ifReadable(\.response)) != nil
    }
}

extension PinningSessionDelegate: URLSessionDownloadDelegate {
    private var downloadDelegate: (any URLSessionDownloadDelegate)? { forwarded as? any URLSessionDownloadDelegate }

    /// Forwards to your delegate, unless the response is refused on arrival.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard !isRefusedOnArrival(downloadTask, in: session) else { return }
        downloadDelegate?.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadDelegate.flatMap {
            offered($0, $0.urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:))
        }?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadDelegate.flatMap {
            offered($0, $0.urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:))
        }?(session, downloadTask, fileOffset, expectedTotalBytes)
    }
}

extension PinningSessionDelegate: URLSessionWebSocketDelegate {
    private var webSocketDelegate: (any URLSessionWebSocketDelegate)? { forwarded as? any URLSessionWebSocketDelegate }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        webSocketDelegate.flatMap { offered($0, $0.urlSession(_:webSocketTask:didOpenWithProtocol:)) }?(
            session, webSocketTask, `protocol`)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        webSocketDelegate.flatMap { offered($0, $0.urlSession(_:webSocketTask:didCloseWith:reason:)) }?(
            session, webSocketTask, closeCode, reason)
    }
}
