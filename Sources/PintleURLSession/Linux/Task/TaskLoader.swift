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

    /// What happens to the content that arrives.
    enum Mode {
        case content
        /// It belongs to a response that is not the last: the next request, after a redirect or a challenge.
        case passing(next: URLRequest)
    }

    struct State {
        weak var task: URLSessionTask?
        var phase = URLSessionTask.State.suspended
        var suspensions = 1
        var hasStarted = false
        /// False for a task that was made after its session had been invalidated.
        var isAdmitted = false
        var currentRequest: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var priority = URLSessionTask.defaultPriority

        var transport: CurlTransport?
        var transfer: Transfer?
        var body = TransferRequest.Body?.none
        /// Whether the content comes from a stream, which is gone once it is sent.
        var isStreamed = false
        var authentication = AuthenticationState()
        var candidate: CacheCandidate?
        var deadline = Double.infinity
        /// To the deadline, while a delegate is asked and no transfer is there that would meet it.
        var countdown: Countdown?
        var redirects = 0
        var supersessions = 0
        var hasLeftOrigin = false
        var mode = Mode.content
        var content = Data()
        var file: DownloadFile?
        var discarded = 0
        /// Content that the delegate is yet to be told of, in order: a message for each waits in its queue.
        var pieces: [ContentPiece] = []
        /// Whether nothing has been told since the last of them, so that what comes next may join it.
        var isLastPieceOpen = false
        /// What they cost together.
        var backlog = 0
        /// What has been sent that the delegate is yet to be told of.
        var unsaid: [SentNews] = []
        /// Whether the last message has gone to whoever is told.
        var hasToldEnd = false

        var received: Int64 = 0
        var expectedToReceive: Int64 = 0
        var sent: Int64 = 0
        var expectedToSend: Int64 = 0

        /// Whether the task is neither over nor about to be.
        var isLive: Bool { phase == .running || phase == .suspended }

        /// Whether what a delegate answers about a transfer still matters.
        func awaits(_ transfer: Transfer) -> Bool { isLive && self.transfer === transfer }
    }

    let session: PinnedURLSession
    let originalRequest: URLRequest
    let identifier: Int
    let delivery: Delivery
    let givenBody: RequestBody
    let isDownload: Bool
    let state: Mutex<State>

    init(
        session: PinnedURLSession, request: URLRequest, body: RequestBody? = nil, delivery: Delivery,
        isDownload: Bool = false
    ) {
        self.session = session
        self.delivery = delivery
        self.isDownload = isDownload
        originalRequest = request
        identifier = session.nextTaskIdentifier()
        givenBody = body ?? RequestBody(of: request)
        state = Mutex(State(currentRequest: request))
    }

    /// Who is told: a task's own delegate hides the session's.
    var delegate: (any URLSessionTaskDelegate)? {
        state.withLock { $0.delegate } ?? session.delegate as? any URLSessionTaskDelegate
    }

    /// The delegate that is told of the response and of the content. An async call tells its own delegate only, and a
    /// task with a completion handler none, as in Foundation for Linux.
    var contentDelegate: (any URLSessionTaskDelegate)? {
        switch delivery {
        case .delegate: delegate
        case .data(_, let isHandler), .file(_, let isHandler): isHandler ? nil : state.withLock { $0.delegate }
        }
    }

    /// Calls back on the delegate queue; not at all once the end has been told there.
    ///
    /// Whoever calls has seen the task live, and it may end before the message is in the queue.
    func tell(_ action: @escaping @Sendable (_ session: PinnedURLSession, _ task: URLSessionTask) -> Void) {
        let current = state.withLock { state in
            state.isLastPieceOpen = false
            return state.task
        }
        guard let task = current else { return }
        session.delegateQueue.addOperation { [self] in
            guard !state.withLock({ $0.hasToldEnd }) else { return }
            action(session, task)
        }
    }
}

// MARK: Commands

extension TaskLoader {
    /// A Boolean value that indicates whether the task was resumed and has not ended. These are the tasks that a session
    /// lists.
    var isOutstanding: Bool { state.withLock { $0.isLive && $0.hasStarted } }

    func resume() {
        enum Step {
            case start, goOn, nothing
        }
        let (step, task, isAdmitted) = state.withLock { state -> (Step, URLSessionTask?, Bool) in
            guard state.phase == .suspended || state.phase == .running else { return (.nothing, nil, false) }
            state.suspensions = max(0, state.suspensions - 1)
            guard state.suspensions == 0, state.phase == .suspended else { return (.nothing, nil, false) }
            state.phase = .running
            defer { state.hasStarted = true }
            return (state.hasStarted ? .goOn : .start, state.task, state.isAdmitted)
        }
        switch step {
        case .start:
            if isAdmitted { return begin() }
            if let task { session.keep(task, loader: self) }
            finish(.cancelled)
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
        let (isNew, isRunning, stray) = state.withLock { state in
            guard state.phase == .suspended || state.phase == .running else {
                return (false, false, URLSessionTask?.none)
            }
            state.phase = .canceling
            return (true, state.transfer != nil, state.isAdmitted ? nil : state.task)
        }
        guard isNew else { return }
        if isRunning {
            withTransfer { $0.cancel($1) }
        } else {
            if let stray { session.keep(stray, loader: self) }
            finish(.cancelled)
        }
    }

    func withTransfer(_ action: (CurlTransport, Transfer) -> Void) {
        let running = state.withLock { state in state.transport.flatMap { way in state.transfer.map { (way, $0) } } }
        if let (transport, transfer) = running { action(transport, transfer) }
    }
}
