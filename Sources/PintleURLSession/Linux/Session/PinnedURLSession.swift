public import Foundation
public import FoundationNetworking
internal import Pintle
internal import PintleEvents
internal import PintleOpenSSL
internal import PintleSuffixes

/// A `URLSession` that checks every server against a policy inside the TLS handshake, before it sends a byte of a
/// request. `URLSession.pinned(to:)` makes one.
///
/// On Linux, Foundation has no hook for server trust. So the tasks of this session are Pintle's own classes, built on
/// libcurl. A feature that they do not support yet fails with a ``SessionError``. The session never falls back to
/// Foundation's own loader.
public final class PinnedURLSession: URLSession, @unchecked Sendable {
    // `@unchecked`: the superclass is Sendable in the same way, and the added properties are constant.

    /// The names of the classes in the configuration's `protocolClasses` that belong neither to the system nor to this
    /// package.
    ///
    /// Such a class would carry requests past the pins. The session does not use these classes, and reports them to the
    /// observer as ``/PintleEvents/SessionEvent``.
    public let removedProtocols: [String]
    let resources: SessionResources

    init(
        source: (any PolicySource)?, configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?, observer: (any TrustEventObserver)? = nil,
        validator: PathValidator = PathValidator(), options: CurlTransport.Options = CurlTransport.Options(),
        identity: IdentitySource? = nil
    ) {
        var options = options
        options.connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        // The cast never fails: `copy()` of a configuration returns a configuration.
        let guarded = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        guarded.protocolClasses = [PinningURLProtocol.self]
        // The cache may hold responses of servers that no policy, or only an earlier policy, has checked. Foundation's
        // loader would also send these credentials without asking the guard.
        guarded.urlCache = nil
        guarded.urlCredentialStorage = nil
        resources = SessionResources(
            configuration, settings: guarded,
            transports: TransportProvider(
                source, observer: observer, validator: validator, options: options, identity: identity),
            delegate: delegate)
        let foreign = ForeignProtocols(in: configuration, removedFrom: guarded)
        removedProtocols = foreign.names
        // Pass no delegate to Foundation, which would keep it even after invalidation. Foundation reads `delegate`,
        // which is overridden.
        super.init(configuration: Self.copy(of: guarded), delegate: nil, delegateQueue: delegateQueue)
        foreign.report(to: observer)
        if let observer, let skipped = resources.proxies.skipped {
            let event = SessionEvent(.unreadableNoProxy, classes: [], isResolved: true, text: skipped)
            TrustEventFeed.shared.post(.session(event), to: observer)
        }
        if let observer, validator.suffixes.isMissing {
            let event = SessionEvent(
                .missingSuffixList, classes: [], isResolved: true,
                text: "wildcards and anchors for all names below fewer than three labels, and cookies for domains, "
                    + "are refused: \(PublicSuffixList.remedy)")
            TrustEventFeed.shared.post(.session(event), to: observer)
        }
    }

    private static func copy(of settings: URLSessionConfiguration) -> URLSessionConfiguration {
        if let copy = settings.copy() as? URLSessionConfiguration { return copy }
        let guarded = URLSessionConfiguration.ephemeral
        guarded.protocolClasses = [PinningURLProtocol.self]
        return guarded
    }

    /// Unavailable, because a shared session would have no policy. A call through `URLSession.Type` gets past the
    /// compiler. It returns a session whose tasks all fail.
    @available(*, unavailable, message: "it has no policy; use URLSession.pinned(to:)")
    public override class var shared: URLSession { withoutPolicy }

    private static let withoutPolicy = PinnedURLSession(
        source: nil, configuration: .default, delegate: nil, delegateQueue: nil)

    /// A copy of the configuration. Foundation's loader reads this property for each task, so code that changed the
    /// original would remove the guard in front of that loader.
    ///
    /// Its `urlCache` is `nil`, as on Apple's systems: a cached response would be used without a handshake, and so
    /// without a verdict.
    public override var configuration: URLSessionConfiguration { Self.copy(of: resources.settings) }

    public override var delegate: (any URLSessionDelegate)? { resources.registry.delegate }

    // MARK: The whole session

    public override func finishTasksAndInvalidate() { resources.registry.invalidate(self) }

    public override func invalidateAndCancel() {
        finishTasksAndInvalidate()
        for loader in resources.registry.loaders { loader.cancel() }
    }

    /// Removes all cookies and credentials from the stores of the session's configuration.
    public override func reset(completionHandler: @escaping @Sendable () -> Void) {
        resources.settings.httpCookieStorage?.removeCookies(since: .distantPast)
        resources.credentials.removeAll()
        delegateQueue.addOperation(completionHandler)
    }

    public override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let loaders = resources.registry.loaders
        // Filtered on the delegate queue, as in Foundation: a task that has completed there by then is not listed.
        delegateQueue.addOperation { completionHandler(loaders.filter { $0.read(\.isLive) }.compactMap(\.task)) }
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
        dataTask(request, .data(completionHandler))
    }

    public override func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(URLRequest(url: url), .data(completionHandler))
    }

    public override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        uploadTask(request, .data(bodyData), .delegate)
    }

    public override func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        uploadTask(request, .file(path: fileURL.path, size: nil), .delegate)
    }

    public override func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        uploadTask(request, .data(bodyData ?? Data()), .data(completionHandler))
    }

    public override func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        uploadTask(request, .file(path: fileURL.path, size: nil), .data(completionHandler))
    }

    public override func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        uploadTask(request, .stream(nil, size: request.declaredContentLength), .delegate)
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
        downloadTask(request, .file(completionHandler))
    }

    public override func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(URLRequest(url: url), .file(completionHandler))
    }

    // Foundation's `send` and `receive` are not open, and a web socket task made by `init()` ends the process in them.
    // So these tasks are Foundation's own, and only their error says who refused them.

    /// Makes a task that fails with a ``SessionError`` and never connects.
    @available(*, deprecated, message: "a pinned session has no web sockets on Linux; use PintleNIO")
    public override func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        refusedSocketTask(URLRequest(url: url))
    }

    /// Makes a task that fails with a ``SessionError`` and never connects.
    @available(*, deprecated, message: "a pinned session has no web sockets on Linux; use PintleNIO")
    public override func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        refusedSocketTask(URLRequest(url: url))
    }

    /// Makes a task that fails with a ``SessionError`` and never connects.
    @available(*, deprecated, message: "a pinned session has no web sockets on Linux; use PintleNIO")
    public override func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        refusedSocketTask(request)
    }

    private func refusedSocketTask(_ request: URLRequest) -> URLSessionWebSocketTask {
        let task = super.webSocketTask(with: request)
        // `send` and `receive` throw it. After `resume` Foundation may replace it with an error of its own.
        task.error = URLError(.webSocket, url: request.url)
        return task
    }

    public override func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        unresumableTask(.delegate)
    }

    public override func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        unresumableTask(.file(completionHandler))
    }
}

extension PinnedURLSession {
    func dataTask(_ request: URLRequest, _ delivery: TaskLoader.Delivery) -> PinnedDataTask {
        PinnedDataTask(TaskLoader(self, resources, request: request, delivery: delivery))
    }

    func uploadTask(
        _ request: URLRequest, _ content: RequestContent, _ delivery: TaskLoader.Delivery
    ) -> PinnedUploadTask {
        PinnedUploadTask(TaskLoader(self, resources, request: request, content: content, delivery: delivery))
    }

    func downloadTask(_ request: URLRequest, _ delivery: TaskLoader.Delivery) -> PinnedDownloadTask {
        PinnedDownloadTask(TaskLoader(self, resources, request: request, delivery: delivery, isDownload: true))
    }

    private func unresumableTask(_ delivery: TaskLoader.Delivery) -> PinnedDownloadTask {
        // Resume data holds no request to start: Foundation for Linux never produces any.
        let refusal = SessionError.unsupported("resuming a download", hint: "start it again")
        let loader = TaskLoader(
            self, resources, request: URLRequest(url: URL(fileURLWithPath: "/")), content: .refused(refusal),
            delivery: delivery, isDownload: true)
        return PinnedDownloadTask(loader)
    }
}

extension TaskLoader.Delivery {
    fileprivate static func data(_ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> Self {
        .handler { data, _, response, error in handler(data, response, error) }
    }

    fileprivate static func file(_ handler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> Self {
        .handler { _, file, response, error in
            handler(file?.url, response, error)
            // The handler has to move the file before it returns.
            file?.remove()
        }
    }
}

/// A guard that refuses every request that reaches Foundation's own loader, which cannot pin.
///
/// Calls on a pinned session do not get here, with one exception: `data(for:delegate:)`, `upload` and `download`.
/// Foundation does not declare them `open`. So Swift calls Foundation's version if the file does not import this
/// module, or if the argument for `delegate` is an optional. Foundation keeps that delegate to itself, so this class
/// cannot hand the request to a pinned task.
final class PinningURLProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canInit(with task: URLSessionTask) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let isSocket = task is URLSessionWebSocketTask || ["ws", "wss"].contains(request.url?.scheme?.lowercased())
        let refusal = isSocket ? .webSocket : Self.refusal(of: task)
        client?.urlProtocol(self, didFailWithError: URLError(refusal, url: request.url))
    }

    override func stopLoading() {}

    private static func refusal(of task: URLSessionTask?) -> SessionError {
        let what =
            switch task {
            case is URLSessionDownloadTask: "a download"
            case is URLSessionUploadTask: "an upload"
            default: "a request"
            }
        return SessionError(
            .stockLoader, "\(what) of a PinnedURLSession reached Foundation's own loader, which cannot pin",
            hint: "import PintleURLSession in the file that makes the call, and give `delegate:` a delegate or "
                + "nil, not an optional variable (unwrap it); or use a task with a completion handler")
    }
}
