public import Foundation
internal import Security

/// One request, which a session makes. A lock protects the state that any thread may read.
open class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State: Int, Sendable {
        case running, suspended, canceling, completed
    }

    enum Delivery {
        case delegate
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case file(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    }

    struct Progress {
        var state = State.suspended
        var request: URLRequest
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var isReported = false
    }

    public let taskIdentifier: Int
    private let request: URLRequest
    let session: URLSession
    let delivery: Delivery
    let body: Data?
    let progress: Guarded<Progress>

    init(_ session: URLSession, _ identifier: Int, _ request: URLRequest, body: Data?, _ delivery: Delivery) {
        self.session = session
        taskIdentifier = identifier
        self.request = request
        self.body = body ?? request.httpBody
        self.delivery = delivery
        progress = Guarded(Progress(request: request))
    }

    open var originalRequest: URLRequest? { request }
    open var currentRequest: URLRequest? { progress.with { $0.request } }
    open var response: URLResponse? { progress.with { $0.response } }
    public var error: (any Error)? { progress.with { $0.error } }
    public var state: State { progress.with { $0.state } }
    public var delegate: (any URLSessionTaskDelegate)? {
        get { progress.with { $0.delegate } }
        set { progress.with { $0.delegate = newValue } }
    }

    /// Returns the delegate that gets a call: the task's own if it has the method, else the session's if it has it.
    func receiver<Delegate>(_ kind: Delegate.Type, of selector: String) -> Delegate? {
        for delegate in [delegate, session.delegate] where delegate?.responds(to: Selector(selector)) ?? false {
            if let receiver = delegate as? Delegate { return receiver }
        }
        return nil
    }

    open func resume() {
        let starts = progress.with { progress in
            guard progress.state == .suspended else { return false }
            progress.state = .running
            return true
        }
        guard starts else { return }
        let loader = Loader(self)
        Thread { loader.run() }.start()
    }

    /// Cancels the task. The app is told at once; the loader ends at its next step.
    open func cancel() {
        let url = progress.with { $0.request.url }
        finish(with: URLError(.cancelled, userInfo: Self.information(of: url)), data: Data())
    }

    var isOver: Bool { progress.with { $0.isReported } }

    static func information(of url: URL?) -> [String: Any] {
        guard let url else { return [:] }
        return [NSURLErrorFailingURLErrorKey: url]
    }

    /// Ends the task. Only the first call has an effect.
    func finish(with error: (any Error)?, data: Data) {
        let isFirst = progress.with { progress in
            guard !progress.isReported else { return false }
            progress.isReported = true
            progress.state = .completed
            progress.error = error
            return true
        }
        guard isFirst else { return }
        let response = progress.with { $0.response }
        session.deliver {
            self.receiver((any URLSessionTaskDelegate).self, of: "URLSession:task:didFinishCollectingMetrics:")?
                .urlSession(self.session, task: self, didFinishCollecting: URLSessionTaskMetrics())
            switch self.delivery {
            case .data(let handler): handler(error == nil ? data : nil, error == nil ? response : nil, error)
            case .file(let handler) where error == nil: Self.withFile(data) { handler($0, response, nil) }
            case .file(let handler): handler(nil, nil, error)
            case .delegate:
                if error == nil, let task = self as? URLSessionDownloadTask,
                    let delegate = self.receiver(
                        (any URLSessionDownloadDelegate).self,
                        of: "URLSession:downloadTask:didFinishDownloadingToURL:")
                {
                    Self.withFile(data) {
                        delegate.urlSession(self.session, downloadTask: task, didFinishDownloadingTo: $0)
                    }
                }
                self.receiver((any URLSessionTaskDelegate).self, of: "URLSession:task:didCompleteWithError:")?
                    .urlSession(self.session, task: self, didCompleteWithError: error)
            }
            // Apple's class releases the task's own delegate at the end.
            self.delegate = nil
            self.session.taskEnded(self)
        }
    }

    /// Ends a data task that goes on as another task. Its delegate hears nothing more of it.
    func end(as task: URLSessionTask) {
        progress.with { progress in
            progress.isReported = true
            progress.state = .completed
        }
        let (response, delegate) = (progress.with { $0.response }, delegate)
        task.progress.with { ($0.state, $0.response, $0.delegate) = (.running, response, delegate) }
        session.taskEnded(self)
    }

    /// Calls `body` with a file that holds `data`, then removes the file, as Foundation does unless it was moved.
    private static func withFile(_ data: Data, _ body: (URL) -> Void) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("standin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try? data.write(to: file)
        body(file)
    }
}

// `@unchecked`: the superclass is Sendable in the same way, and nothing is added.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
/// Only the type exists. A session makes one that connects to nothing.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {}
/// Only the type exists.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    public enum CloseCode: Int, Sendable {
        case invalid = 0
        case normalClosure = 1000
    }
}
/// A download task of AVFoundation, which connects to nothing. On Apple's systems a private class says in `isKind(of:)`
/// that it is this one, and raises an Objective-C exception for these properties, which Swift code cannot catch.
package class AVAssetDownloadTask: URLSessionTask, @unchecked Sendable {
    package override var originalRequest: URLRequest? { fatalError("the task does not support originalRequest") }
    package override var currentRequest: URLRequest? { fatalError("the task does not support currentRequest") }
    package override var response: URLResponse? { fatalError("the task does not support response") }
}

// `@unchecked`: as above.
package final class AVAggregateAssetDownloadTask: AVAssetDownloadTask, @unchecked Sendable {}

/// Only the type exists. Nothing is measured.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {}
