import Foundation

/// A session that makes requests over a `URLSession`. The delegate of the `URLSession` is a ``SessionDelegate``, or
/// forwards to one.
///
/// `@unchecked`: `requests` is used only on the root queue, which is also the delegate's queue.
open class Session: @unchecked Sendable {
    public let session: URLSession
    public let delegate: SessionDelegate
    public let rootQueue: DispatchQueue
    public let serverTrustManager: ServerTrustManager?
    private var requests: [URLSessionTask: DataRequest] = [:]

    public init(
        session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue,
        serverTrustManager: ServerTrustManager? = nil
    ) {
        precondition(session.configuration.identifier == nil, "a background session")
        precondition(session.delegateQueue.underlyingQueue === rootQueue, "another queue than the delegate's")
        self.session = session
        self.delegate = delegate
        self.rootQueue = rootQueue
        self.serverTrustManager = serverTrustManager
        delegate.owner = self
    }

    public convenience init(
        configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
        delegate: SessionDelegate = SessionDelegate(), rootQueue: DispatchQueue = DispatchQueue(label: "root"),
        serverTrustManager: ServerTrustManager? = nil
    ) {
        let delegateQueue = OperationQueue()
        delegateQueue.maxConcurrentOperationCount = 1
        delegateQueue.underlyingQueue = rootQueue
        self.init(
            session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue),
            delegate: delegate, rootQueue: rootQueue, serverTrustManager: serverTrustManager)
    }

    deinit {
        session.invalidateAndCancel()
    }

    open func request(_ convertible: any URLConvertible) -> DataRequest {
        DataRequest(convertible, self)
    }

    /// Makes and starts the task of a request, on the root queue.
    func start(_ request: DataRequest, _ url: URL) {
        let task = session.dataTask(with: url)
        requests[task] = request
        task.resume()
    }

    func request(of task: URLSessionTask) -> DataRequest? { requests[task] }
}
