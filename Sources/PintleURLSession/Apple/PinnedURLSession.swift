public import Foundation
internal import Pintle
internal import PintleApple
internal import PintleReports
import Security

/// A session whose every server a policy decides about. Made by `URLSession.pinned(to:)`.
///
/// The system's sessions cannot be subclassed, so this class is no `URLSession`: it holds one. After a change of the policy
/// it holds another, whose connections are its own; tasks of the old one end as they were decided. Tasks made here fail
/// with an `URLError` whose reason `TrustRejection(underlying:)` finds. Safe to use from any thread.
///
/// Where a `URLSession` is stored or injected, say so, and the same call makes one:
///
///     let session: URLSession = .pinned(to: policy)
///
/// With a background configuration it stays one session, whose next requests go over new connections after a change of
/// the policy. It takes what the system takes there: tasks without a completion handler, uploads from a file. Anything
/// else fails with ``SessionRefusal``, `unsupported-feature`, where the system's session would end the process.
public final class PinnedURLSession: Sendable {
    private struct State: Sendable {
        var generation: UInt64
        var leased: LeasedSession
        var isInvalidated = false
    }

    private let source: any PolicySource
    private let configuration: ClearedConfiguration
    private let delegateQueue: OperationQueue?
    private let delegate: PinningSessionDelegate
    /// The names of the classes in the configuration's `protocolClasses` that were neither the system's nor this package's.
    /// Debugging tools add one to every configuration, and it would carry requests past the pins. The session does not use
    /// them, nor any other class in the list; an observer gets ``SessionTrouble``.
    public let removedProtocols: [String]
    private let last = Locked<ObjectIdentifier?>(nil)
    private let state: Locked<State>

    init(
        source: any PolicySource, configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?, observer: (any TrustFailureObserver)?
    ) {
        self.source = source
        self.configuration = ClearedConfiguration(configuration)
        let foreign = self.configuration.foreignProtocols
        removedProtocols = foreign.names
        self.delegateQueue = delegateQueue
        // Of the sessions that a change of the policy ends the delegate hears nothing.
        self.delegate = PinningSessionDelegate(
            source, forwardingTo: delegate, observer: observer,
            isLast: { [last] session in last.withLock { $0 == ObjectIdentifier(session) } })
        let session = URLSession(
            configuration: self.configuration.copy, delegate: self.delegate, delegateQueue: delegateQueue)
        state = Locked(State(generation: source.current.generation, leased: LeasedSession(session)))
        foreign.report(to: observer)
    }

    deinit {
        let leased = state.withLock { $0.leased }
        last.withLock { $0 = ObjectIdentifier(leased.session) }
        leased.finish()
    }

    /// The system's session of now, for tests. A change of the policy ends it, so no task is made in it.
    package var current: URLSession {
        let leased = lease()
        defer { leased.giveBack() }
        return leased.session
    }

    /// Returns the current session. It does not end before the lease is given back.
    private func lease() -> LeasedSession {
        let generation = source.current.generation
        let isForBackground = configuration.isForBackground
        let (leased, old) = state.withLock { state -> (LeasedSession, LeasedSession?) in
            defer { state.leased.lease() }
            guard generation > state.generation, !state.isInvalidated else { return (state.leased, nil) }
            let old = state.leased
            // Of one identifier there may be one background session at a time: it stays. Its connections go under the
            // lock, so that who finds the new generation sends over none of them; nobody is called back from within.
            guard !isForBackground else {
                old.renewConnections()
                state.generation = generation
                return (old, nil)
            }
            state.leased = LeasedSession(
                URLSession(configuration: configuration.copy, delegate: delegate, delegateQueue: delegateQueue))
            state.generation = generation
            return (state.leased, old)
        }
        // Its tasks that were made and not started go over new connections, too.
        old?.renewConnections()
        old?.finish()
        return leased
    }

    /// A copy of what it was made with, without the loaders in `protocolClasses` and without early data.
    public var sessionConfiguration: URLSessionConfiguration { configuration.copy }

    /// Lets running tasks end, and takes no more.
    public func finishTasksAndInvalidate() { invalidated.finish() }

    /// Cancels running tasks, and takes no more. Those that began before the last change of the policy run to their end.
    public func invalidateAndCancel() { invalidated.cancel() }

    private var invalidated: LeasedSession {
        let leased = state.withLock { state in
            state.isInvalidated = true
            return state.leased
        }
        last.withLock { $0 = ObjectIdentifier(leased.session) }
        return leased
    }

    /// Returns the error as it is: those of this session have their reasons. For code that also has to work with a
    /// `URLSession`.
    public func explain(_ error: any Error) -> any Error { error }

    /// Returns the delegate as it is: this session puts one around a task's delegate by itself. For code that also has to
    /// work with a `URLSession`.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate { delegate }

    // MARK: For tasks

    private func explained<Product: Sendable>(
        _ url: URL?, _ work: (URLSession) async throws -> Product
    ) async throws -> Product {
        if let refusal = refusal(of: url, as: .handled) { throw refusal }
        let mark = delegate.mark
        let leased = lease()
        defer { leased.giveBack() }
        do {
            return try await work(leased.session)
        } catch {
            // The caller that cancelled knows why.
            throw Task.isCancelled ? error : delegate.explain(error, url: url, since: mark)
        }
    }

    private func explained<Product>(
        _ request: URLRequest, _ handler: @escaping @Sendable (Product?, URLResponse?, (any Error)?) -> Void
    ) -> @Sendable (Product?, URLResponse?, (any Error)?) -> Void {
        let (mark, url, delegate, refusal) = (
            delegate.mark, request.url, delegate, refusal(of: request.url, as: .handled)
        )
        return { product, response, error in
            handler(product, response, error.map { refusal ?? delegate.explain($0, url: url, since: mark) })
        }
    }

    /// One that is refused is cancelled before anybody can start it.
    private func task<Kind: URLSessionTask>(
        for request: URLRequest, as form: TaskForm = .handled, _ make: (URLSession) -> Kind
    ) -> Kind {
        let leased = lease()
        defer { leased.giveBack() }
        let mark = delegate.mark
        let refusal = refusal(of: request.url, as: form)
        let task: Kind
        if isKnownInBackground(form) {
            task = make(leased.session)
        } else {
            // A background session would end the process.
            let session = URLSession(
                configuration: .ephemeral, delegate: delegate, delegateQueue: leased.session.delegateQueue)
            defer { session.finishTasksAndInvalidate() }
            task = make(session)
        }
        if form != .handled { delegate.recordStart(of: task, at: mark, refusal: refusal) }
        if refusal != nil { task.cancel() }
        return task
    }

    /// Who hears of a task, and what it sends.
    private enum TaskForm {
        /// A handler, or an async caller.
        case handled
        /// The delegate, of an upload from memory.
        case reportedFromMemory
        /// The delegate.
        case reported
    }

    private func isKnownInBackground(_ form: TaskForm) -> Bool { form == .reported || !configuration.isForBackground }

    /// Why a request does not leave: `http` to a host that the policy has something to say about, or a task that the
    /// system does not have in the background.
    private func refusal(of url: URL?, as form: TaskForm) -> URLError? {
        if !isKnownInBackground(form) {
            let what = form == .handled ? "a task that hands its result to its maker" : "an upload from memory"
            let refusal = SessionRefusal.unsupported(
                what + " in the background", hint: "have a delegate, and upload from a file")
            return URLError(refusal, url: nil)
        }
        guard let url else { return nil }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return URLError(SessionRefusal(alias), url: url)
        }
        guard !source.current.policy.allowsPlainHTTP(to: url) else { return nil }
        return URLError(SessionRefusal(plainHTTPTo: url), url: url)
    }
}

extension PinnedURLSession {
    /// Loads content, as the method of `URLSession` does. Errors have the reason of a refusal inside.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.delegate.guarding($0) }
        return try await explained(request.url) { try await $0.data(for: request, delegate: guarding) }
    }

    /// Loads content, as the method of `URLSession` does. Errors have the reason of a refusal inside.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Uploads content, as the method of `URLSession` does. Errors have the reason of a refusal inside.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.delegate.guarding($0) }
        return try await explained(request.url) {
            try await $0.upload(for: request, from: bodyData, delegate: guarding)
        }
    }

    /// Uploads content, as the method of `URLSession` does. Errors have the reason of a refusal inside.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let guarding = delegate.map { self.delegate.guarding($0) }
        return try await explained(request.url) {
            try await $0.upload(for: request, fromFile: fileURL, delegate: guarding)
        }
    }

    /// Downloads to a file, as the method of `URLSession` does. Errors have the reason of a refusal inside.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let guarding = delegate.map { self.delegate.guarding($0) }
        return try await explained(request.url) { try await $0.download(for: request, delegate: guarding) }
    }

    /// Downloads to a file, as the method of `URLSession` does. Errors have the reason of a refusal inside.
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
