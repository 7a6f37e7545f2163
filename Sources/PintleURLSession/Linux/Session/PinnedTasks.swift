internal import Foundation
internal import FoundationNetworking
internal import Synchronization

// Foundation's tasks have no public initialiser but `init()`, which makes a task without a session. So each
// override below is one that would otherwise reach into that missing session. The four classes say the same,
// because a data, an upload, a download and a stream task have to be subclasses of Foundation's, and an override
// cannot come from an extension; what they say is the loader's.

// `@unchecked` as the superclass is; what is added never changes.
final class PinnedDataTask: URLSessionDataTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.adopt(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader[\.currentRequest] }
    override var response: URLResponse? { loader[\.response] }
    override var state: URLSessionTask.State { loader[\.phase] }
    override var error: (any Error)? { loader[\.error] }
    override var countOfBytesReceived: Int64 { loader[\.received] }
    override var countOfBytesSent: Int64 { loader[\.sent] }
    override var countOfBytesExpectedToReceive: Int64 { loader[\.expectedToReceive] }
    override var countOfBytesExpectedToSend: Int64 { loader[\.expectedToSend] }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader[\.delegate] }
        set { loader[\.delegate] = newValue }
    }
    override var priority: Float {
        get { loader[\.priority] }
        set { loader[\.priority] = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}

// `@unchecked` as the superclass is; what is added never changes.
final class PinnedUploadTask: URLSessionUploadTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.adopt(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader[\.currentRequest] }
    override var response: URLResponse? { loader[\.response] }
    override var state: URLSessionTask.State { loader[\.phase] }
    override var error: (any Error)? { loader[\.error] }
    override var countOfBytesReceived: Int64 { loader[\.received] }
    override var countOfBytesSent: Int64 { loader[\.sent] }
    override var countOfBytesExpectedToReceive: Int64 { loader[\.expectedToReceive] }
    override var countOfBytesExpectedToSend: Int64 { loader[\.expectedToSend] }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader[\.delegate] }
        set { loader[\.delegate] = newValue }
    }
    override var priority: Float {
        get { loader[\.priority] }
        set { loader[\.priority] = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}

// `@unchecked` as the superclass is; what is added never changes.
final class PinnedDownloadTask: URLSessionDownloadTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.adopt(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader[\.currentRequest] }
    override var response: URLResponse? { loader[\.response] }
    override var state: URLSessionTask.State { loader[\.phase] }
    override var error: (any Error)? { loader[\.error] }
    override var countOfBytesReceived: Int64 { loader[\.received] }
    override var countOfBytesSent: Int64 { loader[\.sent] }
    override var countOfBytesExpectedToReceive: Int64 { loader[\.expectedToReceive] }
    override var countOfBytesExpectedToSend: Int64 { loader[\.expectedToSend] }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader[\.delegate] }
        set { loader[\.delegate] = newValue }
    }
    override var priority: Float {
        get { loader[\.priority] }
        set { loader[\.priority] = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }

    override func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        loader.cancel()
        // As in Foundation for Linux: there is none.
        completionHandler(nil)
    }
}

// Always fails, and so transfers nothing: see `streamTask(withHostName:port:)`. `@unchecked` as the superclass is; what is
// added never changes.
final class PinnedStreamTask: URLSessionStreamTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.adopt(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader[\.currentRequest] }
    override var state: URLSessionTask.State { loader[\.phase] }
    override var error: (any Error)? { loader[\.error] }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader[\.delegate] }
        set { loader[\.delegate] = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}

extension TaskLoader {
    /// A server may announce anything. Beyond this, progress under a parent's traps in Foundation for Linux.
    private static let greatestTotal: Int64 = 1 << 53

    /// In bytes, both ways; without a total for as long as one of them is unknown, or too great to be one.
    func showProgress() {
        let (task, done, total) = state.withLock { state in
            let isKnown = state.expectedToSend >= 0 && state.expectedToReceive >= 0 && state.response != nil
            let (sum, overflows) = state.expectedToSend.addingReportingOverflow(state.expectedToReceive)
            return (
                state.task, state.sent + state.received,
                isKnown && !overflows && sum <= Self.greatestTotal ? sum : NSURLSessionTransferSizeUnknown
            )
        }
        task?.progress.totalUnitCount = total
        task?.progress.completedUnitCount = done
    }

    /// A part of the state, for a task that shows it.
    subscript<Value: Sendable>(part: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: part] } }
        set {
            // What goes, goes after the lock: it may be a delegate that asks its task something as it does.
            _ = state.withLock { state in
                defer { state[keyPath: part] = newValue }
                return state[keyPath: part]
            }
        }
    }

    func adopt(_ task: URLSessionTask) {
        state.withLock { $0.task = task }
        let isAdmitted = session.admit(task, loader: self)
        state.withLock { $0.isAdmitted = isAdmitted }
        task.progress.cancellationHandler = { [weak self] in self?.cancel() }
    }
}
