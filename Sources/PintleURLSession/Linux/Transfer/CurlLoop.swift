internal import CCurl
internal import Foundation
internal import Glibc
internal import Pintle
internal import Synchronization

/// The event loop of a transport's thread, with its command queue. libcurl runs on it.
///
/// `@unchecked`: other threads call only `send` and `wake`, which use the locks. The only libcurl function that `wake`
/// calls is `curl_multi_wakeup`. libcurl allows it on any thread, and the lock keeps the multi handle alive meanwhile.
/// Everything else belongs to the thread in `run`, which starts after `init`.
final class CurlLoop: @unchecked Sendable {
    enum Command {
        case start(Transfer)
        case cancel(Transfer)
        case hold(Transfer, TransferHold)
        case release(Transfer, TransferHold)
        /// Ends the transfers that have not started, with `superseded`.
        case retire
        /// Accepts no new transfers, and ends the loop after the last one.
        case finish
    }

    private struct Inbox {
        var commands: [Command] = []
        var isClosed = false
        /// A Boolean value that indicates whether the thread waits for the network, so that a command has to wake it.
        var isWaiting = false
    }

    private let inbox = Mutex(Inbox())
    /// A Boolean value that indicates whether the multi handle still exists.
    ///
    /// It does not share the inbox's lock, because the thread locks the inbox as soon as it wakes up.
    private let isAlive = Mutex(true)
    private let multi: UnsafeMutableRawPointer
    private let work = LoopWork()
    private let completions: CompletionBatch
    let counter = TurnCounter()
    private let queues: HostQueues
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The transfers that have ended but whose end is not reported yet, because they are held.
    private var waiting: [ObjectIdentifier: Transfer] = [:]
    private var abandoned: [AbandonedHandle] = []
    private var isFinishing = false
    /// The uptime before which no transfer can time out.
    private var nextDeadline = Double.infinity
    /// The uptime of the next check of the streams, even if the network is silent.
    private var nextStreamCheck = Double.infinity

    /// The limit of idle connections to all servers together.
    private static let idleConnections = 256

    /// - Returns: `nil` if there is no memory or no file descriptor for libcurl.
    init?(connectionsPerHost: Int, completions: CompletionBatch) {
        guard let multi = curl_multi_init() else { return nil }
        // Without descriptors, libcurl 7.88 makes a multi handle that cannot be woken, so that commands would wait for
        // hours. A wake-up before the first wait only ends that wait at once.
        guard curl_multi_wakeup(multi) == CURLM_OK else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
        self.completions = completions
        // libcurl's default is four idle connections for each running transfer, which is too few when few transfers
        // run.
        pintle_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.idleConnections)
        queues = HostQueues(limit: connectionsPerHost)
    }

    func send(_ command: Command) {
        let (isClosed, isWaiting) = inbox.withLock { inbox in
            if inbox.isClosed { return (true, false) }
            inbox.commands.append(command)
            defer { inbox.isWaiting = false }
            return (false, inbox.isWaiting)
        }
        if isWaiting { wake() }
        if isClosed, case .start(let transfer) = command { transfer.end(.cancelled) }
    }

    /// Ends the current wait for the network, or else the next one.
    func wake() {
        isAlive.withLock { isAlive in
            if isAlive { curl_multi_wakeup(multi) }
        }
    }

    func run() {
        ignoreBrokenPipes()
        work.runningTransfers = { [unowned self] in Array(transfers.values) }
        ExitGuard.enter(self)
        defer { ExitGuard.leave(self) }
        var running: CInt = 0
        while true {
            ExitGuard.pass(self)
            counter.beginTurn()
            completions.beginTurn()
            runCommands()
            curl_multi_perform(multi, &running)
            for transfer in takeAll(&work.streams) {
                scheduleCheck(of: transfer)
                startNext(for: transfer.host)
            }
            // A command that was sent before a response came takes effect before the response is reported.
            runCommands()
            deliverContent()
            collect()
            checkStreams()
            endBroken()
            endOverdue()
            completions.endTurn()
            freeAbandoned()
            if isFinishing, transfers.isEmpty, queues.isEmpty, waiting.isEmpty, close() { return }
            let mayWait = inbox.withLock { inbox in
                inbox.isWaiting = inbox.commands.isEmpty && work.receiving.isEmpty
                return inbox.isWaiting
            }
            if mayWait { wait() }
        }
    }

    /// Blocks SIGPIPE on this thread, so that a peer that hangs up cannot end the process.
    ///
    /// libcurl blocks the signal itself only if it may change the signal handling of the whole process, which
    /// CURLOPT_NOSIGNAL forbids. Blocking it here affects only this thread.
    private func ignoreBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func wait() {
        var ready: CInt = 0
        curl_multi_poll(multi, nil, 0, longestWait, &ready)
    }

    /// The longest wait in milliseconds: until the next deadline or check. libcurl's own timers may end the wait
    /// earlier.
    private var longestWait: CInt {
        let next = min(nextDeadline, nextStreamCheck) - ProcessInfo.processInfo.systemUptime
        return CInt(max(0, min(next, 3_600)) * 1_000) + 1
    }

    /// Accepts no more commands, and frees the multi handle. Only the loop's thread may call this, if there is one.
    ///
    /// - Returns: `false` if there are commands left to run.
    @discardableResult
    func close() -> Bool {
        let isOver = inbox.withLock { inbox in
            inbox.isClosed = inbox.commands.isEmpty
            return inbox.isClosed
        }
        guard isOver else { return false }
        isAlive.withLock { isAlive in
            isAlive = false
            curl_multi_cleanup(multi)
        }
        for handle in takeAll(&abandoned) { handle.free() }
        return true
    }

    // MARK: Commands

    private func runCommands() {
        let commands = inbox.withLock { inbox in
            defer { inbox.commands = [] }
            inbox.isWaiting = false
            return inbox.commands
        }
        for command in commands {
            switch command {
            case .start(let transfer): enqueue(transfer)
            case .cancel(let transfer):
                remove(transfer)
                transfer.end(.cancelled)
                updateWaiting(transfer)
            case .hold(let transfer, let hold): transfer.holds.formUnion(hold)
            case .release(let transfer, let hold):
                transfer.release(hold)
                endIfFaulty(transfer)
                scheduleCheck(of: transfer)
                updateWaiting(transfer)
                // The queue may have skipped the transfer while it was suspended.
                if hold.contains(.suspended), transfer.handle == nil { startNext(for: transfer.host) }
            case .retire:
                let retired = queues.waiting
                queues.remove(retired)
                for transfer in retired { transfer.end(.superseded) }
            case .finish: isFinishing = true
            }
        }
    }

    private func enqueue(_ transfer: Transfer) {
        // The transfer was cancelled before it could start.
        guard !transfer.isOver else { return }
        guard transfer.generation.isCurrent else { return transfer.end(.superseded) }
        queues.add(transfer)
        nextDeadline = min(nextDeadline, deadline(of: transfer))
        startNext(for: transfer.host)
    }

    /// Starts the queued transfers to a server that may run now. `nil` is the server of a transfer that neither waits
    /// nor runs.
    private func startNext(for host: HostQueues.Host?) {
        guard let host else { return }
        while let next = queues.next(for: host) { start(next) }
        // No event comes when a silent connection has settled.
        if host.isHeldBack {
            nextStreamCheck = min(nextStreamCheck, ProcessInfo.processInfo.systemUptime + Transfer.shortestSilence)
        }
    }

    private func start(_ transfer: Transfer) {
        do throws(TransferError) {
            guard transfer.generation.isCurrent else { throw .superseded }
            try transfer.refuseForbiddenHost()
            guard let handle = curl_easy_init() else {
                throw TransferError.library(code: CURLE_OUT_OF_MEMORY.rawValue, text: "")
            }
            transfer.needsHTTP1 = work.needsHTTP1(transfer.request.url.endpoint)
            try transfer.configure(handle)
            transfer.work = work
            transfers[handle] = transfer
            transfer.lastActivity = ProcessInfo.processInfo.systemUptime
            nextDeadline = min(nextDeadline, deadline(of: transfer))
            let code = curl_multi_add_handle(multi, handle)
            guard code == CURLM_OK else {
                throw .library(code: CURLE_FAILED_INIT.rawValue, text: String(cString: curl_multi_strerror(code)))
            }
        } catch {
            detach(transfer)
            queues.leave(transfer)
            transfer.end(error)
        }
    }

    /// Removes a transfer from the queue or from libcurl, and starts the next one in its place.
    private func remove(_ transfer: Transfer) {
        if transfer.handle == nil {
            queues.remove(transfer)
        } else {
            let host = transfer.host
            detach(transfer)
            queues.leave(transfer)
            startNext(for: host)
        }
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        let connections = CurlLibrary.remembersHandles ? transfer.state.queuedStreams : []
        transfer.handle = nil
        transfer.leaveConnection()
        transfers[handle] = nil
        curl_multi_remove_handle(multi, handle)
        transfer.state.bodyReader = nil
        // Not used again: if libcurl 7.88 puts two transfers on one connection, a handle keeps its buffer, which may be
        // smaller than the next transfer needs (heap overflow), and curl_easy_reset keeps it too.
        guard connections.isEmpty else {
            transfer.state.formerStreams = []
            return abandoned.append(AbandonedHandle(handle, of: connections))
        }
        curl_easy_cleanup(handle)
    }

    /// Frees the handles whose connections are closed.
    private func freeAbandoned() {
        guard abandoned.contains(where: \.isFree) else { return }
        for handle in takeAll(&abandoned) {
            if handle.isFree { handle.free() } else { abandoned.append(handle) }
        }
    }

    private func deliverContent() {
        for transfer in takeAll(&work.receiving) {
            transfer.deliver()
            transfer.proceed()
            endIfFaulty(transfer)
            updateWaiting(transfer)
        }
    }

    /// Ends a transfer that must receive no more, for example because its content could not be stored.
    private func endIfFaulty(_ transfer: Transfer) {
        guard transfer.state.cause != nil, transfer.handle != nil || transfer.end != nil, !transfer.isOver else {
            return
        }
        if transfer.handle != nil { remove(transfer) }
        transfer.end(CURLE_WRITE_ERROR)
        updateWaiting(transfer)
    }

    private func updateWaiting(_ transfer: Transfer) {
        waiting[ObjectIdentifier(transfer)] = transfer.isWaiting ? transfer : nil
    }

    // MARK: Ends

    private func collect() {
        var left: CInt = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = transfers[handle]
            else { continue }
            // Removing the handle would free the message.
            let result = pintle_curl_message_result(message)
            if transfer.seemsRefused { queues.noteRefusal(of: transfer) }
            if transfer.beginsRepetition(after: result) {
                detach(transfer)
                queues.leave(transfer)
                queues.add(transfer, isFirst: true)
                startNext(for: transfer.host)
            } else {
                // Reported first, because closing a connection takes longer. An async call goes on after the turn.
                transfer.end(result)
                remove(transfer)
                updateWaiting(transfer)
            }
        }
    }

    /// Ends the transfers over connections that libcurl cannot read any more.
    private func endBroken() {
        let broken = takeAll(&work.broken)
        guard !broken.isEmpty else { return }
        for transfer in transfers.values {
            guard let judge = transfer.state.connection?.judge, broken.contains(where: { $0 === judge }) else {
                continue
            }
            transfer.fail(.frames)
            endIfFaulty(transfer)
        }
    }

    private func endOverdue() {
        let now = ProcessInfo.processInfo.systemUptime
        guard now >= nextDeadline else { return }
        nextDeadline = .infinity
        func isOverdue(_ transfer: Transfer) -> Bool {
            let deadline = deadline(of: transfer)
            if deadline > now { nextDeadline = min(nextDeadline, deadline) }
            return deadline <= now
        }
        // The queues first, because a transfer that ends starts the next one.
        let queued = queues.waiting.filter(isOverdue)
        queues.remove(queued)
        let others = (Array(transfers.values) + Array(waiting.values)).filter(isOverdue)
        for transfer in others { remove(transfer) }
        for transfer in queued + others {
            transfer.end(.timedOut)
            updateWaiting(transfer)
        }
    }

    private func checkStreams() {
        let now = ProcessInfo.processInfo.systemUptime
        guard now >= nextStreamCheck else { return }
        nextStreamCheck = .infinity
        for transfer in transfers.values { nextStreamCheck = min(nextStreamCheck, transfer.checkStream(at: now)) }
        for host in queues.heldBack { startNext(for: host) }
    }

    private func scheduleCheck(of transfer: Transfer) {
        nextStreamCheck = min(nextStreamCheck, transfer.lastActivity + Transfer.shortestSilence)
    }

    /// Returns the uptime at which a transfer times out, whether it is queued, runs, or has ended and is held.
    private func deadline(of transfer: Transfer) -> Double {
        let start =
            if transfer.holds.stopsClock {
                ProcessInfo.processInfo.systemUptime
            } else if transfer.handle == nil, transfer.end == nil {
                queues.waitingSince(transfer)
            } else {
                transfer.lastActivity
            }
        return min(start + transfer.request.idleTimeout, transfer.request.deadline)
    }
}

/// An easy handle that has left libcurl, but that libcurl may still write to. Use it only on the transport's thread.
///
/// libcurl gives nghttp2 the address of the handle with the request. Before version 8.6, it takes the address back only
/// if nghttp2 has taken the request from its queue (HTTP/2). So the handle has to exist until the connection is closed.
struct AbandonedHandle {
    /// The number of handles after which a connection carries no further request. A handle may hold 416 KiB.
    static let limit = 4

    private let handle: UnsafeMutableRawPointer
    private let judges: [HandshakeJudge]

    init(_ handle: UnsafeMutableRawPointer, of judges: [HandshakeJudge]) {
        self.handle = handle
        self.judges = judges
        for judge in judges { judge.abandonedHandles += 1 }
        // The transfer, which owns the buffer and gets the text, may end earlier.
        pintle_curl_set_long(handle, CURLOPT_VERBOSE, 0)
        pintle_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
    }

    /// A Boolean value that indicates whether the connections are closed. libcurl ends nghttp2's session before it
    /// frees OpenSSL's structures.
    var isFree: Bool { judges.allSatisfy(\.isClosed) }

    func free() { curl_easy_cleanup(handle) }
}

/// The work that the transfers of a loop leave for the loop. Use it only on the transport's thread.
final class LoopWork {
    /// The transfers that have received content, or have more to decode.
    var receiving: [Transfer] = []
    /// The transfers whose connection turned out to carry several at a time, so that queued ones may start.
    var streams: [Transfer] = []
    /// The connections whose other transfers must end.
    var broken: [HandshakeJudge] = []
    /// Returns the transfers that libcurl runs.
    var runningTransfers: () -> [Transfer] = { [] }
    /// The servers that have asked for HTTP/1.1.
    private var textServers: Set<ServerEndpoint> = []
    static let textServerLimit = 1_000

    func needsHTTP1(_ server: ServerEndpoint) -> Bool { !textServers.isEmpty && textServers.contains(server) }

    func noteNeedForHTTP1(of server: ServerEndpoint) {
        // A server that is forgotten asks again.
        if textServers.count >= Self.textServerLimit, !textServers.contains(server) { textServers.removeFirst() }
        textServers.insert(server)
    }
}

/// Removes and returns all elements. Elements that are added meanwhile are left for the next turn.
private func takeAll<Element>(_ list: inout [Element]) -> [Element] {
    defer { list = [] }
    return list
}
