import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// Download tasks of AVFoundation. The stand-in's end the process when a property is read that they do not have.
@Suite("Apple: download tasks of AVFoundation")
struct AssetDownloadTests {
    /// A delegate that counts the calls of the methods that take a task of any kind.
    private final class CountingDelegate: NSObject, URLSessionTaskDelegate {
        private let counts = Locked<[String: Int]>([:])

        var calls: [String: Int] { counts.withLock { $0 } }

        private func count(_ name: String = #function) { counts.withLock { $0[name, default: 0] += 1 } }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { count() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) {
            count()
            completionHandler(.continueLoading, nil)
        }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { count() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            count()
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            count()
            completionHandler(.performDefaultHandling, nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            count()
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
            completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            count()
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) { count() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) { count() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) { count() }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            count()
        }
    }

    /// Calls each method that takes a task of any kind.
    private static func call(
        _ delegate: any URLSessionTaskDelegate, _ session: URLSession, _ task: URLSessionTask
    ) throws {
        let url = try #require(URL(string: "https://media.test/a"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
        let space = URLProtectionSpace(
            host: "media.test", port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        delegate.urlSession(session, didCreateTask: task)
        delegate.urlSession(session, task: task, willBeginDelayedRequest: URLRequest(url: url)) { _, _ in }
        delegate.urlSession(session, taskIsWaitingForConnectivity: task)
        delegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: URLRequest(url: url)
        ) { _ in }
        delegate.urlSession(session, task: task, didReceive: .asked(space)) { _, _ in }
        delegate.urlSession(session, task: task, needNewBodyStream: { _ in })
        delegate.urlSession(session, task: task, needNewBodyStreamFrom: 0) { _ in }
        delegate.urlSession(
            session, task: task, didSendBodyData: 1, totalBytesSent: 1, totalBytesExpectedToSend: 1)
        delegate.urlSession(session, task: task, didReceiveInformationalResponse: response)
        delegate.urlSession(session, task: task, didFinishCollecting: URLSessionTaskMetrics())
        delegate.urlSession(session, task: task, didCompleteWithError: nil)
        delegate.urlSession(session, task: task, didCompleteWithError: URLError(.cancelled))
    }

    @Test("Each call for a download task of AVFoundation reaches the app's delegate, as one for another task does")
    func forwarded() throws {
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .reject)
        let own = CountingDelegate()
        let session: URLSession = .pinned(to: policy, delegate: own)
        let pinned = try #require(session.delegate as? any URLSessionTaskDelegate)
        let delegates = [
            pinned, PinningSessionDelegate(policy, forwardingTo: own), PinningSessionDelegate(policy).guarding(own),
            session.guarding(own),
        ]
        let url = try #require(URL(string: "https://media.test/a"))
        for delegate in delegates {
            let before = own.calls
            for task in [
                session.assetDownloadTask(isAggregate: false), session.assetDownloadTask(isAggregate: true),
            ] { try Self.call(delegate, session, task) }
            let added = own.calls.merging(before) { $0 - $1 }
            // The ends are two of each task.
            #expect(added.count == 11)
            #expect(added.allSatisfy { $0.value == ($0.key.contains("didCompleteWithError") ? 4 : 2) })
        }
        // The twin: a plain task.
        let (name, before) = ("urlSession(_:task:didFinishCollecting:)", own.calls)
        try Self.call(pinned, session, session.dataTask(with: url))
        #expect(own.calls[name] == before[name].map { $0 + 1 })
        session.invalidateAndCancel()
    }

    @Test("Without a policy a guard still reads no property that a download task of AVFoundation lacks")
    func missing() throws {
        let session = URLSession(configuration: .ephemeral)
        let guarded = session.guarding(CountingDelegate())
        for isAggregate in [true, false] {
            try Self.call(guarded, session, session.assetDownloadTask(isAggregate: isAggregate))
        }
        session.invalidateAndCancel()
    }

    @Test("A plain task over http to a covered host is cancelled, and a download task of AVFoundation has no address")
    func addresses() throws {
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .reject)
        let session: URLSession = .pinned(to: policy)
        let pinned = try #require(session.delegate as? any URLSessionTaskDelegate)
        let plain = session.dataTask(with: try #require(URL(string: "http://media.test/a")))
        let media = session.assetDownloadTask(isAggregate: false)
        for task in [plain, media] { pinned.urlSession(session, didCreateTask: task) }
        #expect(plain.state == .completed && media.state == .suspended)
        session.invalidateAndCancel()
    }
}
