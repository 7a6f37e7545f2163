public import Foundation
public import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL
internal import PintleReports
internal import Synchronization

/// A `URLSession` whose every connection is judged by a policy, inside the TLS handshake, before a byte of
/// a request is sent over it. Made by `URLSession.pinned(to:)`.
///
/// On Linux, Foundation has no hook for server trust, so that tasks of this session are classes of our own
/// over libcurl. What they do not support yet fails with a ``SessionRefusal``; nothing falls back to
/// Foundation's own loader.
public final class PinnedURLSession: URLSession, @unchecked Sendable {
    // `@unchecked` as the superclass is; what is added is behind a lock or never changes.
    private struct State {
        /// For the newest generation that a task has asked for; `nil` before the first.
        var transport: (generation: UInt64, Result<CurlTransport, SessionRefusal>)?
        /// From the creation of a task to its end.
        var tasks: [Int: (task: URLSessionTask, loader: TaskLoader)] = [:]
        var lastIdentifier = 0
        var isInvalidated = false
        var delegate: (any URLSessionDelegate)?
    }

    /// The names of the classes in the configuration's `protocolClasses` that were neither the system's nor this package's.
    /// Such a class would carry requests past the pins. The session does not use them; an observer gets
    /// ``SessionTrouble``.
    public let removedProtocols: [String]
    let proxies: ProxySetting
    /// What the loader goes by. Nobody outside gets hold of it, and nobody here changes it.
    let settings: URLSessionConfiguration
    /// The configuration's, out of reach of Foundation's loader.
    let credentials: CredentialStore
    let cache: ResponseCache
    /// Where cookies are kept, of four responses at a time. The others wait: what one of them may cost is bounded.
    let cookieQueue = OperationQueue()
    private let inner: Mutex<State>
    private let source: (any PolicySource)?
    private let observer: (any TrustFailureObserver)?
    private let validator: PathValidator
    private let options: CurlTransport.Options

    init(
        source: (any PolicySource)?, configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?, observer: (any TrustFailureObserver)? = nil,
        validator: PathValidator = PathValidator(), options: CurlTransport.Options = CurlTransport.Options()
    ) {
        var options = options
        options.connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        self.source = source
        self.observer = observer
        self.validator = validator
        self.options = options
        proxies = ProxySetting(configuration)
        inner = Mutex(State(delegate: delegate))
        credentials = CredentialStore(storage: configuration.urlCredentialStorage)
        cache = ResponseCache(configuration.urlCache)
        cookieQueue.maxConcurrentOperationCount = 4
        // `copy()` of a configuration is one, if it is anything.
        let guarded = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        guarded.protocolClasses = [PinningURLProtocol.self]
        // Where Foundation's loader would take an answer, or credentials, past the guard.
        guarded.urlCache = nil
        guarded.urlCredentialStorage = nil
        settings = guarded
        let foreign = ForeignProtocols(in: configuration, removedFrom: guarded)
        removedProtocols = foreign.names
        // Foundation asks for `delegate`, which is overridden; this one it would keep even when invalidated.
        super.init(configuration: Self.copy(of: guarded), delegate: nil, delegateQueue: delegateQueue)
        foreign.report(to: observer)
    }

    private static func copy(of settings: URLSessionConfiguration) -> URLSessionConfiguration {
        if let copy = settings.copy() as? URLSessionConfiguration { return copy }
        let guarded = URLSessionConfiguration.ephemeral
        guarded.protocolClasses = [PinningURLProtocol.self]
        return guarded
    }

    /// Inherited, and what it would be has no policy. Called through `URLSession.Type` it is a session whose
    /// tasks all fail.
    @available(*, unavailable, message: "it has no policy; use URLSession.pinned(to:)")
    public override class var shared: URLSession { withoutPolicy }

    private static let withoutPolicy = PinnedURLSession(
        source: nil, configuration: .default, delegate: nil, delegateQueue: nil)

    /// A copy. Foundation's loader asks for it at each task, and whoever could change it would take away the
    /// guard in front of that loader.
    public override var configuration: URLSessionConfiguration { Self.copy(of: settings) }

    public override var delegate: (any URLSessionDelegate)? { inner.withLock { $0.delegate } }

    // MARK: For tasks

    /// What carries transfers under the policy that is in force now.
    func transport() throws(SessionRefusal) -> CurlTransport {
        guard let source else {
            throw SessionRefusal(
                .unsupportedFeature, "PinnedURLSession.shared has no policy", hint: "use URLSession.pinned(to:)")
        }
        let snapshot = source.current
        let (transport, old) = inner.withLock { state in
            // Another task may have asked later and been faster: newer is better.
            if let (generation, known) = state.transport, generation >= snapshot.generation {
                return (known, Result<CurlTransport, SessionRefusal>?.none)
            }
            let old = state.transport?.1
            let new = makeTransport(snapshot, of: source)
            state.transport = (snapshot.generation, new)
            return (new, old)
        }
        // It goes when its last transfer does, and not under the lock.
        if case .success(let old) = old { old.retire() }
        return try transport.get()
    }

    private func makeTransport(
        _ snapshot: PolicySnapshot, of source: any PolicySource
    ) -> Result<CurlTransport, SessionRefusal> {
        do throws(SessionRefusal) {
            let generation = PolicyGeneration(snapshot, of: source, validator: validator, observer: observer)
            return .success(try CurlTransport(generation, options: options))
        } catch {
            return .failure(error)
        }
    }

    func nextTaskIdentifier() -> Int {
        inner.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
    }

    /// Keeps a new task until it ends, also where it is never resumed: `invalidateAndCancel` ends it then.
    ///
    /// - Returns: false for an invalidated session, which does not keep the task.
    func admit(_ task: URLSessionTask, loader: TaskLoader) -> Bool {
        inner.withLock { state in
            if !state.isInvalidated { state.tasks[loader.identifier] = (task, loader) }
            return !state.isInvalidated
        }
    }

    /// Keeps a task that was made after the session was invalidated, until its delegate or handler has been called.
    func insert(_ task: URLSessionTask, loader: TaskLoader) {
        inner.withLock { $0.tasks[loader.identifier] = (task, loader) }
    }

    func remove(_ loader: TaskLoader) {
        let (gone, isLast) = inner.withLock { state in
            (state.tasks.removeValue(forKey: loader.identifier), state.isInvalidated && state.tasks.isEmpty)
        }
        if gone != nil, isLast { sayInvalid() }
    }

    private func sayInvalid() {
        let delegate = inner.withLock { state in
            defer { state.delegate = nil }
            return state.delegate
        }
        guard let delegate else { return }
        delegateQueue.addOperation { delegate.urlSession(self, didBecomeInvalidWithError: nil) }
    }

    // MARK: The session as a whole

    public override func finishTasksAndInvalidate() {
        let isIdle = inner.withLock { state in
            state.isInvalidated = true
            return state.tasks.isEmpty
        }
        if isIdle { sayInvalid() }
    }

    public override func invalidateAndCancel() {
        finishTasksAndInvalidate()
        for (_, loader) in inner.withLock({ Array($0.tasks.values) }) { loader.cancel() }
    }

    /// Empties the cookies, the cache and the credentials that the session was configured with.
    public override func reset(completionHandler: @escaping @Sendable () -> Void) {
        settings.httpCookieStorage?.removeCookies(since: .distantPast)
        cache.urlCache?.removeAllCachedResponses()
        credentials.removeAll()
        delegateQueue.addOperation(completionHandler)
    }

    public override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = inner.withLock { $0.tasks.sorted { $0.key < $1.key }.map(\.value) }
        // Asked in the queue, as Foundation does: a task whose end was told there before is not listed.
        delegateQueue.addOperation { completionHandler(tasks.filter(\.loader.isOutstanding).map(\.task)) }
    }

    public override func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {
        getAllTasks { tasks in
            completionHandler(
                tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask },
                tasks.compactMap { $0 as? URLSessionUploadTask }, tasks.compactMap { $0 as? URLSessionDownloadTask })
        }
    }

    // MARK: Tasks

    public override func dataTask(with request: URLRequest) -> URLSessionDataTask {
        dataTask(request, .delegate)
    }

    public override func dataTask(with url: URL) -> URLSessionDataTask {
        dataTask(URLRequest(url: url), .delegate)
    }

    public override func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(request, .data(completionHandler, onDelegateQueue: true))
    }

    public override func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(URLRequest(url: url), .data(completionHandler, onDelegateQueue: true))
    }

    public override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        uploadTask(request, .data(bodyData), .delegate)
    }

    public override func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        uploadTask(request, .file(fileURL), .delegate)
    }

    public override func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        uploadTask(request, .data(bodyData ?? Data()), .data(completionHandler, onDelegateQueue: true))
    }

    public override func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        uploadTask(request, .file(fileURL), .data(completionHandler, onDelegateQueue: true))
    }

    public override func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        uploadTask(request, .stream(nil), .delegate)
    }

    public override func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        downloadTask(request, .delegate)
    }

    public override func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(URLRequest(url: url), .delegate)
    }

    public override func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(request, .file(completionHandler, onDelegateQueue: true))
    }

    public override func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(URLRequest(url: url), .file(completionHandler, onDelegateQueue: true))
    }

    /// Foundation for Linux has no stream tasks: its method is unavailable too, and ends the process where a call gets
    /// past the compiler. This one makes a task that fails when it is resumed.
    @available(*, unavailable, message: "stream tasks are not available; use TLSClient of PintleOpenSSL")
    public override func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        refusedStreamTask(hostname, port)
    }

    public override func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        unresumableTask(.delegate)
    }

    public override func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        unresumableTask(.file(completionHandler, onDelegateQueue: true))
    }
}

extension PinnedURLSession {
    func dataTask(_ request: URLRequest, _ delivery: TaskLoader.Delivery) -> PinnedDataTask {
        PinnedDataTask(TaskLoader(session: self, request: request, delivery: delivery))
    }

    func uploadTask(
        _ request: URLRequest, _ body: RequestBody, _ delivery: TaskLoader.Delivery
    ) -> PinnedUploadTask {
        PinnedUploadTask(TaskLoader(session: self, request: request, body: body, delivery: delivery))
    }

    func downloadTask(_ request: URLRequest, _ delivery: TaskLoader.Delivery) -> PinnedDownloadTask {
        PinnedDownloadTask(TaskLoader(session: self, request: request, delivery: delivery, isDownload: true))
    }

    func refusedStreamTask(_ hostname: String, _ port: Int) -> PinnedStreamTask {
        var address = URLComponents()
        (address.scheme, address.host, address.port) = ("https", hostname, (1...65_535).contains(port) ? port : nil)
        let refusal = SessionRefusal.unsupported("a stream task", hint: "use TLSClient of PintleOpenSSL")
        let request = URLRequest(url: address.url ?? URL(fileURLWithPath: "/"))
        return PinnedStreamTask(
            TaskLoader(session: self, request: request, body: .refused(refusal), delivery: .delegate))
    }

    private func unresumableTask(_ delivery: TaskLoader.Delivery) -> PinnedDownloadTask {
        // There is no request in the data: Foundation for Linux never made any.
        let refusal = SessionRefusal.unsupported("resuming a download", hint: "start it anew")
        let loader = TaskLoader(
            session: self, request: URLRequest(url: URL(fileURLWithPath: "/")), body: .refused(refusal),
            delivery: delivery, isDownload: true)
        return PinnedDownloadTask(loader)
    }
}
