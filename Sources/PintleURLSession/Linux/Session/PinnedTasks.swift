internal import Foundation
internal import FoundationNetworking

// The only public initializer of Foundation's task classes is `init()`, which makes a task without a session. Each
// override below replaces a member that would otherwise use that missing session.
//
// The three task classes repeat the same overrides: each has to subclass a different Foundation class, and Swift does
// not allow overrides in an extension. The logic is in `TaskLoader`.

// `@unchecked`: the superclass is Sendable in the same way, and the one added property is constant.
final class PinnedDataTask: URLSessionDataTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.attach(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader.read(\.request) }
    override var response: URLResponse? { loader.read(\.response) }
    override var state: URLSessionTask.State { loader.read(\.phase) }
    override var error: (any Error)? { loader.read(\.error) }
    override var countOfBytesReceived: Int64 { loader.read(\.progress.received) }
    override var countOfBytesSent: Int64 { loader.read(\.progress.sent) }
    override var countOfBytesExpectedToReceive: Int64 { loader.read(\.progress.expectedToReceive) }
    override var countOfBytesExpectedToSend: Int64 { loader.read(\.progress.expectedToSend) }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader.outbox.taskDelegate }
        set { loader.outbox.taskDelegate = newValue }
    }
    override var priority: Float {
        get { loader.priority }
        set { loader.priority = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}

// `@unchecked`: the superclass is Sendable in the same way, and the one added property is constant.
final class PinnedUploadTask: URLSessionUploadTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.attach(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader.read(\.request) }
    override var response: URLResponse? { loader.read(\.response) }
    override var state: URLSessionTask.State { loader.read(\.phase) }
    override var error: (any Error)? { loader.read(\.error) }
    override var countOfBytesReceived: Int64 { loader.read(\.progress.received) }
    override var countOfBytesSent: Int64 { loader.read(\.progress.sent) }
    override var countOfBytesExpectedToReceive: Int64 { loader.read(\.progress.expectedToReceive) }
    override var countOfBytesExpectedToSend: Int64 { loader.read(\.progress.expectedToSend) }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader.outbox.taskDelegate }
        set { loader.outbox.taskDelegate = newValue }
    }
    override var priority: Float {
        get { loader.priority }
        set { loader.priority = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}

// `@unchecked`: the superclass is Sendable in the same way, and the one added property is constant.
final class PinnedDownloadTask: URLSessionDownloadTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.attach(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader.read(\.request) }
    override var response: URLResponse? { loader.read(\.response) }
    override var state: URLSessionTask.State { loader.read(\.phase) }
    override var error: (any Error)? { loader.read(\.error) }
    override var countOfBytesReceived: Int64 { loader.read(\.progress.received) }
    override var countOfBytesSent: Int64 { loader.read(\.progress.sent) }
    override var countOfBytesExpectedToReceive: Int64 { loader.read(\.progress.expectedToReceive) }
    override var countOfBytesExpectedToSend: Int64 { loader.read(\.progress.expectedToSend) }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader.outbox.taskDelegate }
        set { loader.outbox.taskDelegate = newValue }
    }
    override var priority: Float {
        get { loader.priority }
        set { loader.priority = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }

    override func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        loader.cancel()
        // Foundation for Linux never produces resume data either.
        completionHandler(nil)
    }
}
