internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The engine of one task of any class. It performs the actions that ``TaskStateMachine`` decides on, and reports
/// events back to it.
///
/// Events come on the transport's thread, commands and the delegate's answers on any thread. Callbacks run on the
/// delegate queue. No thread waits for another.
final class TaskLoader: Sendable {
    typealias Machine = TaskStateMachine<RunningTransfer>

    /// The receiver of the result.
    enum Delivery: Sendable {
        /// Receives the content or the file of a download, and the response; or else only the error.
        typealias Completion = @Sendable (Data?, DownloadFile?, URLResponse?, URLError?) -> Void

        case delegate
        /// A completion handler, which is called on the delegate queue.
        case handler(Completion)
        /// An async call, which continues at once. It has a task object only if something asks for it.
        case caller(Completion, makeTask: @Sendable (TaskLoader) -> URLSessionTask)

        /// A Boolean value that indicates whether the delegate gets the content piece by piece.
        var isDelegate: Bool {
            if case .delegate = self { true } else { false }
        }

        var isCaller: Bool {
            if case .caller = self { true } else { false }
        }
    }

    struct State {
        var machine: Machine
        var content: ResponseContent
        /// A timer for the deadline while the delegate is asked and no transfer runs that would check the deadline.
        var countdown: Countdown?
        var priority = URLSessionTask.defaultPriority
    }

    let session: URLSession
    let resources: SessionResources
    let originalRequest: URLRequest
    let identifier: Int
    let delivery: Delivery
    let isDownload: Bool
    let outbox: DelegateOutbox
    let state: Mutex<State>
    /// Held while the task object is made, so that there is only one.
    private let making = Mutex(())

    init(
        _ session: URLSession, _ resources: SessionResources, request: URLRequest, content: RequestContent? = nil,
        delivery: Delivery, isDownload: Bool = false
    ) {
        self.session = session
        self.resources = resources
        self.delivery = delivery
        self.isDownload = isDownload
        originalRequest = request
        identifier = resources.registry.makeIdentifier()
        outbox = DelegateOutbox(session)
        let hop = Hop(request: request, content: content ?? RequestContent(of: request))
        state = Mutex(State(machine: Machine(hop), content: ResponseContent(isKept: !delivery.isDelegate)))
    }

    /// Connects the loader with the task object that the app sees.
    func attach(_ task: URLSessionTask) {
        outbox.task = task
        if !delivery.isCaller { admit(task) }
        task.progress.cancellationHandler = { [weak self] in self?.cancel() }
    }

    /// Enters the task into the session's list, unless the session is invalidated.
    ///
    /// - Parameter task: The task object; `nil` for an async call.
    func admit(_ task: URLSessionTask? = nil) {
        if resources.registry.admit(task, self) { state.withLock { $0.machine.admitted() } }
    }

    /// The task object that the app sees; `nil` if the app made it and has released it.
    ///
    /// Foundation's initializer is expensive, and most async calls end without anyone seeing their task. So the object
    /// of an async call is made when this property is read: for a delegate, and for the session's list of tasks.
    var task: URLSessionTask? {
        guard case .caller(_, let makeTask) = delivery else { return outbox.task }
        return making.withLock { _ in
            if let task = outbox.task { return task }
            let task = makeTask(self)
            resources.registry.keep(task, for: self)
            showProgress()
            if hasSucceeded { Self.completeProgress(of: task) }
            return task
        }
    }

    /// Reads values from the machine under the lock, so that all of them belong to the same state.
    ///
    /// The machine itself must not leave the lock: the copy could become the last owner of a stream, whose class may be
    /// the app's own.
    func read<Value: Sendable>(_ value: (Machine) -> Value) -> Value { state.withLock { value($0.machine) } }

    func resume() {
        let limit = resources.settings.timeoutIntervalForResource
        advance { $0.resume(deadline: limit > 0 ? ProcessInfo.processInfo.systemUptime + limit : .infinity) }
    }

    func suspend() { advance { $0.suspend() } }
    func cancel() { advance { $0.cancel() } }

    /// Moves the machine to its next state, and performs the actions that it returns.
    func advance(_ event: (inout Machine) -> [Machine.Action]) {
        let (actions, last) = state.withLock { state in
            let last = (state.machine.state, state.machine.request)
            return (event(&state.machine), last)
        }
        perform(actions)
        // Released outside the lock: if the old state owned a stream, the stream is closed here, and its class may be
        // the app's own.
        withExtendedLifetime(last) {}
    }

    func perform(_ actions: [Machine.Action]) {
        for action in actions {
            switch action {
            case .keepTask: keepTask()
            case .prepare(let hop): prepare(hop)
            case .prepareNext(let hop, let last): prepareNext(hop, after: last.transfer)
            case .startCountdown: startCountdown()
            case .askForStream(let hop): askForStream(for: hop)
            case .askAboutRedirect(let response, let next, let running):
                ask(about: response, to: next, running.transfer)
            case .askForCredential(let pending, let running): ask(for: pending, running.transfer)
            case .askAboutResponse(let response, let running): ask(about: response, running.transfer)
            case .showResponse(let response): show(response)
            case .start(let running, let hop): start(running, hop)
            case .adjustSuspension(let running): adjustSuspension(of: running)
            case .release(let running, let hold): running.transport.release(running.transfer, hold)
            case .cancelTransfer(let running): running.transport.cancel(running.transfer)
            case .storeCookies(let cookies, let running): store(cookies, running)
            case .storeCredential(let authorization):
                resources.credentials.store(authorization.credential, for: authorization.space)
            case .accept(_, let running): accept(running)
            case .finish(let outcome): finish(outcome)
            }
        }
    }

    /// The delegate that gets the response and the content.
    ///
    /// For an async call this is only the delegate of that call. A task with a completion handler has none, as in
    /// Foundation for Linux.
    var contentDelegate: (any URLSessionTaskDelegate)? {
        switch delivery {
        case .delegate: outbox.delegate
        case .handler: nil
        case .caller: outbox.taskDelegate
        }
    }

    /// The way in which the delegate takes part in a response.
    var listener: Machine.Listener {
        guard !isDownload, contentDelegate is any URLSessionDataDelegate else { return .none }
        return delivery.isDelegate ? .asked : .informed
    }

    private func keepTask() {
        let task = outbox.task
        if task != nil || delivery.isCaller { resources.registry.insert(task, self) }
    }

    /// The task object at the end of the task, if there is one. After a success, none is made later without a complete
    /// progress.
    var finishedTask: URLSessionTask? {
        let task = making.withLock { _ in outbox.task }
        if let task, hasSucceeded { Self.completeProgress(of: task) }
        return task
    }

    private var hasSucceeded: Bool { read { $0.phase == .completed && $0.error == nil } }

    private func adjustSuspension(of running: RunningTransfer) {
        // Under the lock, so that two threads that suspend and resume the task send their commands in the right order.
        state.withLock { state in
            guard state.machine.carrier == running else { return }
            if state.machine.phase == .suspended {
                running.transport.hold(running.transfer, .suspended)
            } else {
                running.transport.release(running.transfer, .suspended)
            }
        }
    }

    func startCountdown() {
        guard let deadline = read(\.countdownDeadline) else { return }
        let countdown = Countdown(to: deadline) { [weak self] in self?.advance { $0.reachedDeadline() } }
        state.withLock { state in
            if state.machine.countdownDeadline != nil { state.countdown = countdown }
        }
    }
}

// MARK: Priority and progress

extension TaskLoader {
    /// The greatest total that `Progress` gets. A server may announce any length, and beyond this one a child of
    /// another `Progress` traps in Foundation for Linux.
    private static let greatestTotal: Int64 = 1 << 53

    var priority: Float {
        get { state.withLock { $0.priority } }
        set { state.withLock { $0.priority = newValue } }
    }

    /// Updates the task's `Progress`, in bytes sent plus received. The total is unknown if one of the two totals is
    /// unknown, or if the sum is too great.
    ///
    /// The last unit of a known total is never complete here, because the task may still fail. Foundation for Linux
    /// also counts a child towards its parent each time that the child becomes finished.
    func showProgress() {
        guard let task = outbox.task else { return }
        let (progress, hasResponse) = read { ($0.progress, $0.response != nil) }
        let (sum, overflows) = progress.expectedToSend.addingReportingOverflow(progress.expectedToReceive)
        let isKnown = hasResponse && progress.expectedToSend >= 0 && progress.expectedToReceive >= 0
        let total = isKnown && !overflows && sum <= Self.greatestTotal ? sum : NSURLSessionTransferSizeUnknown
        let count = progress.sent + progress.received
        let shown = total < 0 ? count : min(count, max(0, total - 1))
        // In the order in which no moment is finished.
        if shown < task.progress.completedUnitCount { task.progress.completedUnitCount = shown }
        task.progress.totalUnitCount = total
        task.progress.completedUnitCount = shown
    }

    /// Makes the task's `Progress` finished, in one step.
    private static func completeProgress(of task: URLSessionTask) {
        let progress = task.progress
        if progress.totalUnitCount < 0 {
            progress.completedUnitCount = max(1, progress.completedUnitCount)
            progress.totalUnitCount = progress.completedUnitCount
        } else {
            progress.totalUnitCount = max(1, progress.totalUnitCount)
            progress.completedUnitCount = progress.totalUnitCount
        }
    }
}

/// A transfer and the transport that runs it.
struct RunningTransfer: Equatable, Sendable {
    let transport: CurlTransport
    let transfer: Transfer

    static func == (one: RunningTransfer, other: RunningTransfer) -> Bool { one.transfer === other.transfer }
}

extension TaskStateMachine<RunningTransfer> {
    /// Returns the carrier of a transfer, or `nil` if it is not the current transfer of a live task.
    func carrier(of transfer: Transfer) -> RunningTransfer? {
        guard let carrier, carrier.transfer === transfer else { return nil }
        return carrier
    }
}

/// A timer that runs an action at a deadline, unless this object is released first.
///
/// `@unchecked`: the timer is constant, and dispatch sources may be used on any thread.
final class Countdown: @unchecked Sendable {
    private let timer: any DispatchSourceTimer
    /// A queue for all timers. Without it each timer would take a thread of the Dispatch pool.
    private static let queue = DispatchQueue(label: "pintle.countdowns")

    /// The longest delay in seconds: a hundred years, the limit of Foundation's clocks.
    private static let limit = 3_155_760_000.0

    /// - Parameters:
    ///   - uptime: the deadline, as system uptime in seconds.
    ///   - action: a closure that is called at most once, on a queue that it must not block.
    init(to uptime: Double, _ action: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: Self.queue)
        timer.schedule(deadline: .now() + min(max(0, uptime - ProcessInfo.processInfo.systemUptime), Self.limit))
        timer.setEventHandler(handler: action)
        timer.resume()
    }

    deinit {
        timer.cancel()
    }
}
