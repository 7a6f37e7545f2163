public import Foundation
internal import Security

/// A session that asks its delegate about each server, as Apple's does and Foundation's for Linux does not.
///
/// Each task has a thread and a connection of its own. Nothing is pooled, shared or resumed, with one exception: if
/// `httpMaximumConnectionsPerHost` is 1, a connection is kept for the next task. Apple's session always keeps
/// connections.
///
/// `@unchecked`: a lock protects the state that changes, and no code changes the configuration of a session.
open class URLSession: NSObject, @unchecked Sendable {
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }

    public enum ResponseDisposition: Int, Sendable {
        case cancel, allow, becomeDownload, becomeStream
    }

    public enum DelayedRequestDisposition: Int, Sendable {
        case continueLoading, useNewRequest, cancel
    }

    private struct State {
        var delegate: (any URLSessionDelegate)?
        var tasks: [Int: URLSessionTask] = [:]
        var lastIdentifier = 0
        var isInvalidated = false
    }

    public let configuration: URLSessionConfiguration
    public let delegateQueue: OperationQueue
    private let inner: Guarded<State>
    let idle = IdleConnections()
    private let flushClosesConnections = StandIn.flushClosesConnections
    /// The delegate of the task that an async method makes. The task has it when `didCreateTask` is called.
    @TaskLocal static var delegateOfNewTask: (any URLSessionTaskDelegate)?

    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.configuration = configuration
        inner = Guarded(State(delegate: StandIn.replacement.map { $0(delegate) } ?? delegate))
        if let queue {
            delegateQueue = queue
        } else {
            delegateQueue = OperationQueue()
            delegateQueue.maxConcurrentOperationCount = 1
        }
    }

    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    public var delegate: (any URLSessionDelegate)? { inner.with { $0.delegate } }

    func deliver(_ work: @escaping @Sendable () -> Void) { delegateQueue.addOperation(work) }

    private func register<Kind: URLSessionTask>(isHandled: Bool = true, _ make: (Int) -> Kind) -> Kind {
        // Apple's session raises an exception here too.
        if isHandled, configuration.identifier != nil {
            preconditionFailure("a completion handler, or an upload from memory, in a background session")
        }
        let identifier = inner.with { state in
            // Apple's session raises an Objective-C exception, which Swift code cannot catch.
            guard !state.isInvalidated else { preconditionFailure("a task in a session that was invalidated") }
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
        let task = make(identifier)
        task.delegate = Self.delegateOfNewTask
        let isLate = inner.with { state in
            state.tasks[identifier] = task
            return state.isInvalidated
        }
        if isLate { preconditionFailure("a session was invalidated while a task was made in it") }
        task.receiver((any URLSessionTaskDelegate).self, of: "URLSession:didCreateTask:")?
            .urlSession(self, didCreateTask: task)
        return task
    }

    /// Makes the task that a data task becomes. No delegate hears that it was created.
    func successor<Kind: URLSessionTask>(_ make: (Int) -> Kind) -> Kind {
        inner.with { state in
            state.lastIdentifier += 1
            let task = make(state.lastIdentifier)
            state.tasks[task.taskIdentifier] = task
            return task
        }
    }

    func taskEnded(_ task: URLSessionTask) {
        let isLast = inner.with { state in
            state.tasks[task.taskIdentifier] = nil
            return state.isInvalidated && state.tasks.isEmpty
        }
        if isLast { sayInvalid() }
    }

    private func sayInvalid() {
        let delegate = inner.with { state in
            defer { state.delegate = nil }
            return state.delegate
        }
        guard let delegate, delegate.responds(to: Selector("URLSession:didBecomeInvalidWithError:")) else { return }
        deliver { delegate.urlSession(self, didBecomeInvalidWithError: nil) }
    }

    /// Makes later requests use new connections only if `StandIn.flushClosesConnections` was set for this session.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        if flushClosesConnections { idle.flush() }
        deliver(completionHandler)
    }

    open func finishTasksAndInvalidate() {
        let isIdle = inner.with { state in
            state.isInvalidated = true
            return state.tasks.isEmpty
        }
        if isIdle { sayInvalid() }
    }

    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = inner.with { Array($0.tasks.values) }
        deliver { completionHandler(tasks) }
    }

    open func invalidateAndCancel() {
        finishTasksAndInvalidate()
        for task in inner.with({ Array($0.tasks.values) }) { task.cancel() }
    }

    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        register(isHandled: false) { URLSessionDataTask(self, $0, request, body: nil, .delegate) }
    }

    open func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    open func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        register { URLSessionDataTask(self, $0, request, body: nil, .data(completionHandler)) }
    }

    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        register { URLSessionUploadTask(self, $0, request, body: bodyData, .delegate) }
    }

    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        register { URLSessionUploadTask(self, $0, request, body: bodyData, .data(completionHandler)) }
    }

    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        let body = (try? Data(contentsOf: fileURL)) ?? Data()
        return register(isHandled: false) { URLSessionUploadTask(self, $0, request, body: body, .delegate) }
    }

    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        uploadTask(with: request, from: try? Data(contentsOf: fileURL), completionHandler: completionHandler)
    }

    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        register(isHandled: false) { URLSessionWebSocketTask(self, $0, URLRequest(url: url), body: nil, .delegate) }
    }

    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        let nowhere = URLRequest(url: URL(fileURLWithPath: "/"))
        return register(isHandled: false) { URLSessionStreamTask(self, $0, nowhere, body: nil, .delegate) }
    }

    /// Makes a task as AVFoundation's subclass of this class does. No delegate hears that it was created.
    package func assetDownloadTask(isAggregate: Bool) -> URLSessionTask {
        let request = URLRequest(url: URL(fileURLWithPath: "/"))
        return successor { identifier in
            isAggregate
                ? AVAggregateAssetDownloadTask(self, identifier, request, body: nil, .delegate)
                : AVAssetDownloadTask(self, identifier, request, body: nil, .delegate)
        }
    }

    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        register(isHandled: false) { URLSessionDownloadTask(self, $0, request, body: nil, .delegate) }
    }

    open func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        register { URLSessionDownloadTask(self, $0, request, body: nil, .file(completionHandler)) }
    }
}
