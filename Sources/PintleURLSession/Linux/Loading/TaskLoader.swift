internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// What a task does, whatever its class: one transfer after the other, redirects included, until there is
/// a response or an error to hand over.
///
/// Events come on the transport's thread and leave on the delegate queue; nobody waits for anybody.
final class TaskLoader: Sendable {
    /// Who gets the result.
    enum Delivery: Sendable {
        case delegate
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void, onDelegateQueue: Bool)
        case file(@Sendable (URL?, URLResponse?, (any Error)?) -> Void, onDelegateQueue: Bool)
    }

    enum Body: Sendable {
        case none
        case data(Data)
        case file(URL)
        /// What is not there yet; the task fails with it.
        case refused(SessionRefusal)
    }

    /// What happens to the content that arrives.
    enum Mode {
        case content
        /// It belongs to a redirect that is followed: the next request.
        case redirect(URLRequest)
    }

    struct State {
        weak var task: URLSessionTask?
        var phase = URLSessionTask.State.suspended
        var suspensions = 1
        var hasStarted = false
        var currentRequest: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var priority = URLSessionTask.defaultPriority

        var transport: CurlTransport?
        var transfer: Transfer?
        var body = TransferRequest.Body?.none
        var deadline = Double.infinity
        var redirects = 0
        var supersessions = 0
        var hasLeftOrigin = false
        var mode = Mode.content
        var content = Data()
        var file: DownloadFile?
        var discarded = 0
        var backlog = 0

        var received: Int64 = 0
        var expectedToReceive: Int64 = 0
        var sent: Int64 = 0
        var expectedToSend: Int64 = 0
    }

    let session: PinnedURLSession
    let originalRequest: URLRequest
    let identifier: Int
    let delivery: Delivery
    let givenBody: Body
    let isDownload: Bool
    let state: Mutex<State>

    init(
        session: PinnedURLSession, request: URLRequest, body: Body = .none, delivery: Delivery, isDownload: Bool = false
    ) {
        self.session = session
        self.delivery = delivery
        self.isDownload = isDownload
        originalRequest = request
        identifier = session.nextTaskIdentifier()
        if case .none = body, let data = request.httpBody {
            givenBody = .data(data)
        } else if case .none = body, request.httpBodyStream != nil {
            givenBody = .refused(.unsupported("a body stream", hint: "upload data or a file"))
        } else {
            givenBody = body
        }
        state = Mutex(State(currentRequest: request))
    }

    /// Who is told: a task's own delegate hides the session's.
    var delegate: (any URLSessionTaskDelegate)? {
        state.withLock { $0.delegate } ?? session.delegate as? any URLSessionTaskDelegate
    }

    /// Calls back on the delegate queue.
    func tell(_ action: @escaping @Sendable (_ session: PinnedURLSession, _ task: URLSessionTask) -> Void) {
        guard let task = state.withLock({ $0.task }) else { return }
        let session = session
        session.delegateQueue.addOperation { action(session, task) }
    }
}

// MARK: Commands

extension TaskLoader {
    func resume() {
        enum Step {
            case start, goOn, nothing
        }
        let (step, task) = state.withLock { state -> (Step, URLSessionTask?) in
            guard state.phase == .suspended || state.phase == .running else { return (.nothing, nil) }
            state.suspensions = max(0, state.suspensions - 1)
            guard state.suspensions == 0, state.phase == .suspended else { return (.nothing, nil) }
            state.phase = .running
            defer { state.hasStarted = true }
            return (state.hasStarted ? .goOn : .start, state.task)
        }
        switch step {
        case .start:
            guard let task, session.register(task, loader: self) else { return finish(.cancelled) }
            start()
        case .goOn: withTransfer { $0.release($1, .suspended) }
        case .nothing: break
        }
    }

    func suspend() {
        let isNew = state.withLock { state in
            guard state.phase == .suspended || state.phase == .running else { return false }
            state.suspensions += 1
            defer { state.phase = .suspended }
            return state.phase == .running
        }
        if isNew { withTransfer { $0.hold($1, .suspended) } }
    }

    func cancel() {
        let (isNew, isRunning, task) = state.withLock { state in
            guard state.phase == .suspended || state.phase == .running else {
                return (false, false, URLSessionTask?.none)
            }
            state.phase = .canceling
            return (true, state.transfer != nil, state.task)
        }
        guard isNew else { return }
        if isRunning {
            withTransfer { $0.cancel($1) }
        } else {
            if let task { _ = session.register(task, loader: self) }
            finish(.cancelled)
        }
    }

    func withTransfer(_ action: (CurlTransport, Transfer) -> Void) {
        let running = state.withLock { state in state.transport.flatMap { way in state.transfer.map { (way, $0) } } }
        if let (transport, transfer) = running { action(transport, transfer) }
    }
}

// MARK: One transfer after the other

extension TaskLoader {
    private func start() {
        let body: TransferRequest.Body?
        switch givenBody {
        case .none: body = nil
        case .data(let data): body = .data(data)
        case .file(let url):
            guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else {
                return finish(.refused(SessionRefusal(.invalidRequest, "there is no file to upload: \(url.path)")))
            }
            body = .file(path: url.path, size: size.int64Value)
        case .refused(let refusal): return finish(.refused(refusal))
        }
        let limit = session.settings.timeoutIntervalForResource
        state.withLock { state in
            state.body = body
            state.deadline = limit > 0 ? ProcessInfo.processInfo.systemUptime + limit : .infinity
        }
        load(originalRequest)
    }

    /// Makes a transfer of its own for each hop, decided anew by the policy that is in use now.
    func load(_ request: URLRequest) {
        do throws(SessionRefusal) {
            let transport = try session.transport()
            let (translation, body) = state.withLock { state in
                state.currentRequest = request
                state.mode = .content
                (state.discarded, state.sent) = (0, 0)
                state.expectedToSend = state.body?.size ?? 0
                return (
                    RequestTranslation(
                        configuration: session.settings, proxies: session.proxies,
                        generation: transport.generation,
                        hasLeftOrigin: state.hasLeftOrigin, deadline: state.deadline), state.body
                )
            }
            let ready = try translation.transferRequest(request, body: body)
            let transfer = transport.make(ready, events: self)
            let isWanted = state.withLock { state in
                guard state.phase == .running || state.phase == .suspended else { return false }
                (state.transport, state.transfer) = (transport, transfer)
                if state.phase == .suspended { transport.hold(transfer, .suspended) }
                return true
            }
            guard isWanted else { return finish(.cancelled) }
            transport.start(transfer)
        } catch {
            finish(.refused(error))
        }
    }

    /// The last thing that happens to a task, whoever comes first.
    func finish(_ failure: TransferFailure?) {
        let outcome = state.withLock { state -> (TransferFailure?, Data, DownloadFile?, URLResponse?)? in
            guard state.phase != .completed else { return nil }
            let failure = state.phase == .canceling ? .cancelled : failure
            state.phase = .completed
            state.error = failure.map { URLError($0, url: state.currentRequest?.url) }
            (state.transport, state.transfer) = (nil, nil)
            defer { (state.content, state.file) = (Data(), nil) }
            return (failure, state.content, state.file, state.response)
        }
        guard let (failure, content, file, response) = outcome else { return }
        // Held here until the end has been told.
        guard let task = state.withLock({ $0.task }) else { return session.unregister(self) }
        task.progress.totalUnitCount = max(1, task.progress.totalUnitCount)
        task.progress.completedUnitCount = task.progress.totalUnitCount
        let error = state.withLock { $0.error }
        let succeeded = failure == nil

        let last: @Sendable () -> Void
        var isQueued = true
        switch delivery {
        case .data(let handler, let onDelegateQueue):
            isQueued = onDelegateQueue
            last = { succeeded ? handler(content, response, nil) : handler(nil, nil, error) }
        case .file(let handler, let onDelegateQueue):
            isQueued = onDelegateQueue
            last = {
                succeeded ? handler(file?.url, response, nil) : handler(nil, nil, error)
                // The handler has moved it, or does not want it. An async caller keeps it.
                if onDelegateQueue || !succeeded { file?.remove() }
            }
        case .delegate:
            let (delegate, session) = (delegate, session)
            last = {
                if let file, succeeded, let task = task as? URLSessionDownloadTask {
                    (delegate as? any URLSessionDownloadDelegate)?
                        .urlSession(session, downloadTask: task, didFinishDownloadingTo: file.url)
                }
                file?.remove()
                delegate?.urlSession(session, task: task, didCompleteWithError: error)
            }
        }
        let (session, loader) = (session, self)
        guard isQueued else {
            session.unregister(loader)
            return last()
        }
        session.delegateQueue.addOperation {
            last()
            session.unregister(loader)
        }
    }
}
