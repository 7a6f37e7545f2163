public import Foundation
internal import Pintle
internal import PintleApple
internal import PintleEvents

/// A session that checks every server against a policy. `URLSession.pinned(to:)` makes one.
///
/// This class wraps a system session. It is not a `URLSession` itself, because that class cannot be subclassed. After a
/// change of the policy it uses a new system session with connections of its own, and tasks of the old one finish under
/// the old policy. So it is the kind of session for a policy that changes. Tasks fail with a `URLError`, in which
/// `TrustRejection(underlying:)` finds the reason. Safe to use from any thread.
///
/// All system sessions call the delegate on one queue, except `didCreateTask`, which comes on the thread that makes
/// the task. Each counts its tasks by itself, so two tasks may have the same
/// `taskIdentifier` after a change of the policy: tell tasks apart by the objects, or by `taskDescription`.
///
/// A task's own delegate comes before the pins, so pass the result of ``guarding(_:)``. The async methods do this
/// themselves.
///
/// If your code stores or injects a `URLSession`, declare that type, and the same call makes one:
///
///     let session: URLSession = .pinned(to: policy)
///
/// With a background configuration the system session stays the same. After a change of the policy it is flushed, and
/// no device has shown that its next requests then use new connections. It accepts only the tasks that the system
/// accepts there: tasks without a completion handler, and uploads from a file. Other tasks fail with ``SessionError``
/// and the code `unsupported-feature`, where a system session would end the process.
public final class PinnedURLSession: Sendable {
    private struct State: Sendable {
        var generation: UInt64
        var leased: LeasedSession
        var isInvalidated = false
    }

    private let source: any PolicySource
    private let configuration: ClearedConfiguration
    private let delegateQueue: OperationQueue
    private let delegate: PinningSessionDelegate
    private let pins: SessionPins
    /// The names of the classes in the configuration's `protocolClasses` that belong neither to the system nor to this
    /// package.
    ///
    /// Debugging tools add one to every configuration, and it would carry requests past the pins. The session uses no
    /// class of that list, and reports these to the observer as ``SessionEvent``.
    public let removedProtocols: [String]
    private let sessions = OpenSessions()
    private let state: Locked<State>

    init(
        source: any PolicySource, configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?, observer: (any TrustEventObserver)?
    ) {
        self.source = source
        self.configuration = ClearedConfiguration(configuration)
        let foreign = self.configuration.foreignProtocols
        removedProtocols = foreign.names
        self.delegateQueue = delegateQueue ?? Self.serialQueue()
        pins = SessionPins(
            source, of: delegate, observer: observer, isLast: { [sessions] in sessions.closed($0) })
        self.delegate = PinningSessionDelegate(pins)
        let session = self.delegate.makeSession(self.configuration.copy, delegateQueue: self.delegateQueue)
        let leased = LeasedSession(session)
        sessions.opened(leased)
        state = Locked(State(generation: source.current.generation, leased: leased))
        foreign.report(to: observer)
    }

    /// Returns a queue for all system sessions. With queues of their own, two of them could call the delegate at once.
    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "PinnedURLSession"
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    deinit {
        sessions.end()
        state.withLock { $0.leased }.finish()
    }

    /// The current system session, for tests. A change of the policy ends it, so do not make tasks in it.
    package var current: URLSession {
        let leased = lease()
        defer { leased.giveBack() }
        return leased.session
    }

    /// Returns the current session. It does not end before the caller gives the lease back.
    private func lease() -> LeasedSession {
        let generation = source.current.generation
        let isForBackground = configuration.isForBackground
        let (leased, old) = state.withLock { state -> (LeasedSession, LeasedSession?) in
            defer { state.leased.lease() }
            guard generation > state.generation, !state.isInvalidated else { return (state.leased, nil) }
            let old = state.leased
            // Only one background session may exist for an identifier, so this one stays. Drop its connections under
            // the lock, so that a caller that sees the new generation sends over none of them. This cannot deadlock:
            // the call runs no callbacks.
            guard !isForBackground else {
                old.renewConnections()
                state.generation = generation
                return (old, nil)
            }
            state.leased = open(configuration.copy)
            state.generation = generation
            return (state.leased, old)
        }
        // For tasks of the old session that have not started yet, if `flush` makes them use new connections.
        old?.renewConnections()
        old?.finish()
        return leased
    }

    private func open(_ configuration: URLSessionConfiguration) -> LeasedSession {
        let leased = LeasedSession(delegate.makeSession(configuration, delegateQueue: delegateQueue))
        sessions.opened(leased)
        return leased
    }

    /// A copy of the session's configuration, without the classes in `protocolClasses` and without early data.
    public var sessionConfiguration: URLSessionConfiguration { configuration.copy }

    /// Lets running tasks end, and accepts no more. After the last of them, the delegate's `didBecomeInvalidWithError`
    /// is called once.
    public func finishTasksAndInvalidate() { invalidated.finish() }

    /// Cancels running tasks, and accepts no more. After the last of them, the delegate's `didBecomeInvalidWithError`
    /// is called once.
    public func invalidateAndCancel() {
        invalidated.cancel()
        // Also the tasks that began before the policy changed.
        sessions.cancelAll()
    }

    private var invalidated: LeasedSession {
        sessions.end()
        return state.withLock { state in
            state.isInvalidated = true
            return state.leased
        }
    }

    /// Returns the error unchanged, because errors of this session have their reasons inside. For code that also has to
    /// work with a `URLSession`.
    public func explain(_ error: any Error) -> any Error { error }

    /// Returns a delegate to set as the delegate of a task of this session in place of your own:
    ///
    ///     task.delegate = session.guarding(mine)
    ///
    /// Apple's systems ask a task's delegate before the session's. So the result checks servers against the session's
    /// policy, and forwards other calls to your delegate: see `PinningSessionDelegate`. The methods with a parameter
    /// `delegate` do this themselves, and take a guarded delegate as it is.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        self.delegate.guarding(delegate)
    }

    // MARK: Tasks

    private func explained<Product: Sendable>(
        _ url: URL?, _ work: (URLSession) async throws -> Product
    ) async throws -> Product {
        if let refusal = refusal(of: url, as: .handled) { throw refusal }
        let mark = pins.mark
        let leased = lease()
        defer { leased.giveBack() }
        do {
            return try await work(leased.session)
        } catch {
            // A caller that cancelled its own task needs no explanation.
            throw Task.isCancelled ? error : pins.explain(error, url: url, since: mark)
        }
    }

    private func explained<Product>(
        _ request: URLRequest, _ handler: @escaping @Sendable (Product?, URLResponse?, (any Error)?) -> Void
    ) -> @Sendable (Product?, URLResponse?, (any Error)?) -> Void {
        let (mark, url, pins, refusal) = (pins.mark, request.url, pins, refusal(of: request.url, as: .handled))
        return { product, response, error in
            handler(product, response, error.map { refusal ?? pins.explain($0, url: url, since: mark) })
        }
    }

    /// Makes a task. A refused task is cancelled before the caller can start it.
    private func task<Kind: URLSessionTask>(
        for request: URLRequest, as form: TaskForm = .handled, _ make: (URLSession) -> Kind
    ) -> Kind {
        let leased = lease()
        defer { leased.giveBack() }
        let mark = pins.mark
        let refusal = refusal(of: request.url, as: form)
        let task: Kind
        if isKnownInBackground(form) {
            task = make(leased.session)
        } else {
            // A background session would end the process for such a task.
            let other = open(.ephemeral)
            other.lease()
            defer { other.giveBack() }
            other.finish()
            task = make(other.session)
        }
        if form != .handled { pins.recordStart(of: task, at: mark, refusal: refusal) }
        if refusal != nil { task.cancel() }
        return task
    }

    /// The receiver of a task's result, and the source of its content.
    private enum TaskForm {
        /// A completion handler or an async caller.
        case handled
        /// The delegate, for an upload from memory.
        case reportedFromMemory
        /// The delegate, for any other task.
        case reported
    }

    private func isKnownInBackground(_ form: TaskForm) -> Bool { form == .reported || !configuration.isForBackground }

    /// Returns the reason why a request must not be sent: it uses `http` for a host that the policy covers, or the
    /// system does not have such a task in the background.
    private func refusal(of url: URL?, as form: TaskForm) -> URLError? {
        if !isKnownInBackground(form) {
            let what = form == .handled ? "a task that hands its result to its maker" : "an upload from memory"
            let refusal = SessionError.unsupported(
                what + " in the background", hint: "have a delegate, and upload from a file")
            return URLError(refusal, url: nil)
        }
        guard let url else { return nil }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return URLError(SessionError(alias), url: url)
        }
        guard !source.current.policy.allowsPlainHTTP(to: url) else { return nil }
        return URLError(SessionError(plainHTTPTo: url), url: url)
    }
}

extension PinnedURLSession {
    /// Loads content, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.guarding($0) }
        return try await explained(request.url) { try await $0.data(for: request, delegate: guarding) }
    }

    /// Loads content, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Uploads content, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.guarding($0) }
        return try await explained(request.url) {
            try await $0.upload(for: request, from: bodyData, delegate: guarding)
        }
    }

    /// Uploads content, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.guarding($0) }
        return try await explained(request.url) {
            try await $0.upload(for: request, fromFile: fileURL, delegate: guarding)
        }
    }

    /// Downloads to a file, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let guarding = delegate.map { self.guarding($0) }
        return try await explained(request.url) { try await $0.download(for: request, delegate: guarding) }
    }

    /// Downloads to a file, as the method of `URLSession` does. Errors have the reason for a refusal inside.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }
}

extension PinnedURLSession {
    /// Makes a data task, as the method of `URLSession` does.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        task(for: request, as: .reported) { $0.dataTask(with: request) }
    }

    /// Makes a data task, as the method of `URLSession` does.
    public func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// Makes a data task, as the method of `URLSession` does.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        let handler = explained(request, completionHandler)
        return task(for: request) { $0.dataTask(with: request, completionHandler: handler) }
    }

    /// Makes a data task, as the method of `URLSession` does.
    public func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Makes an upload task, as the method of `URLSession` does.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        task(for: request, as: .reportedFromMemory) { $0.uploadTask(with: request, from: bodyData) }
    }

    /// Makes an upload task, as the method of `URLSession` does.
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let handler = explained(request, completionHandler)
        return task(for: request) { $0.uploadTask(with: request, from: bodyData, completionHandler: handler) }
    }

    /// Makes an upload task, as the method of `URLSession` does.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        task(for: request, as: .reported) { $0.uploadTask(with: request, fromFile: fileURL) }
    }

    /// Makes an upload task, as the method of `URLSession` does.
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let handler = explained(request, completionHandler)
        return task(for: request) { $0.uploadTask(with: request, fromFile: fileURL, completionHandler: handler) }
    }

    /// Makes a download task, as the method of `URLSession` does.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        task(for: request, as: .reported) { $0.downloadTask(with: request) }
    }

    /// Makes a download task, as the method of `URLSession` does.
    public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        let handler = explained(request, completionHandler)
        return task(for: request) { $0.downloadTask(with: request, completionHandler: handler) }
    }
}
