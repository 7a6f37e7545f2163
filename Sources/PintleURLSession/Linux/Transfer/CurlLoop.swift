internal import CCurl
internal import Foundation
internal import Glibc
internal import Synchronization

/// The loop of a transport's thread, on which libcurl runs, and its command queue.
///
/// `@unchecked`: other threads use only `send` and `wake`, which go through the locks. The multi handle's only
/// call from there is `curl_multi_wakeup`, which is allowed, under the lock that also ends the handle's life. The
/// rest belongs to the thread in `run`, once `init`, which comes before it, is over.
final class CurlLoop: @unchecked Sendable {
    enum Command {
        case start(Transfer)
        case cancel(Transfer)
        case hold(Transfer, TransferHold)
        case release(Transfer, TransferHold)
        /// Ends the transfers that have not started, as superseded.
        case retire
        /// Takes no new transfers, and ends after the last.
        case finish
    }

    private struct Inbox {
        var commands: [Command] = []
        var isClosed = false
        /// A Boolean value that indicates whether the thread waits for the network, so that a command has to wake it.
        var isWaiting = false
    }

    private let inbox = Mutex(Inbox())
    /// A Boolean value that indicates whether the multi handle still exists. It has a lock of its own, because the woken
    /// thread locks the inbox at once.
    private let isAlive = Mutex(true)
    private let multi: UnsafeMutableRawPointer
    private let gathering = Gathering()
    let counter = TurnCounter()
    private var queues: HostQueues
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The transfers that send content.
    private var uploads: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The transfers that have ended, while a hold delays the report.
    private var waiting: [ObjectIdentifier: Transfer] = [:]
    private var isFinishing = false
    /// Uptime before which no transfer can have timed out.
    private var nextDeadline = Double.infinity
    /// Uptime at which a transfer is to be looked at, whatever the network does.
    private var nextLook = Double.infinity
    /// Uptime at which a socket was last ready.
    private var lastNews = 0.0

    /// The limit over all servers.
    private static let idleConnections = 256

    init?(connectionsPerHost: Int) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        // By default libcurl keeps four idle connections for each transfer that runs: few, when few run.
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

    /// Ends the wait for something to happen, or the next one.
    func wake() {
        isAlive.withLock { isAlive in
            if isAlive { curl_multi_wakeup(multi) }
        }
    }

    func run() {
        ignoreBrokenPipes()
        ExitGuard.enter(self)
        defer { ExitGuard.leave(self) }
        var running: CInt = 0
        while true {
            ExitGuard.pass(self)
            counter.beginTurn()
            obey()
            for transfer in gathering.removeYielding() { transfer.release([]) }
            curl_multi_perform(multi, &running)
            // Commands that were sent before a response came are performed before the response is reported.
            obey()
            handOver()
            collect()
            endOverdue()
            lookAgain()
            if isFinishing, transfers.isEmpty, queues.isEmpty, waiting.isEmpty, close() { return }
            let mayWait = inbox.withLock { inbox in
                inbox.isWaiting = inbox.commands.isEmpty && !gathering.hasYielding
                return inbox.isWaiting
            }
            if mayWait { wait() }
        }
    }

    /// A peer that hangs up must not end the process. libcurl only sees to it where it may change what
    /// signals do to the whole of it, which CURLOPT_NOSIGNAL forbids; the signal is this thread's alone.
    private func ignoreBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func wait() {
        var ready: CInt = 0
        curl_multi_poll(multi, nil, 0, patience, &ready)
        if ready > 0 { lastNews = ProcessInfo.processInfo.systemUptime }
    }

    /// Milliseconds until the next deadline. libcurl's own timers end the wait earlier.
    ///
    /// libcurl 7.88 sometimes hands data of several streams to some of them only, and waits with the rest for a socket that
    /// may stay silent. So the loop asks it again, after a pause that grows with the time since the last data.
    private var patience: CInt {
        let now = ProcessInfo.processInfo.systemUptime
        let longest = transfers.values.contains(where: \.isReadyStream) ? min(max(now - lastNews, 0.05), 2) : 3_600
        return CInt(max(0, min(min(nextDeadline, nextLook) - now, longest)) * 1_000) + 1
    }

    private func close() -> Bool {
        let isOver = inbox.withLock { inbox in
            inbox.isClosed = inbox.commands.isEmpty
            return inbox.isClosed
        }
        guard isOver else { return false }
        isAlive.withLock { isAlive in
            isAlive = false
            curl_multi_cleanup(multi)
        }
        return true
    }

    // MARK: Commands

    private func obey() {
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
                waiting[ObjectIdentifier(transfer)] = nil
            case .hold(let transfer, let hold): transfer.holds.formUnion(hold)
            case .release(let transfer, let hold):
                transfer.release(hold)
                if transfer.isOver { waiting[ObjectIdentifier(transfer)] = nil }
                // It may have been passed over in its queue.
                if hold.contains(.suspended), transfer.handle == nil { startNext(for: transfer) }
            case .retire:
                for transfer in queues.removeWaiting() { transfer.end(.superseded) }
            case .finish: isFinishing = true
            }
        }
    }

    private func enqueue(_ transfer: Transfer) {
        // Cancelled before it could start.
        guard !transfer.isOver else { return }
        guard transfer.generation.isCurrent else { return transfer.end(.superseded) }
        queues.add(transfer)
        nextDeadline = min(nextDeadline, transfer.request.deadline)
        startNext(for: transfer)
    }

    /// Starts what may run beside, or in place of, a transfer to the same server.
    private func startNext(for transfer: Transfer) {
        while let next = queues.next(for: transfer.request.url.endpoint) { start(next) }
    }

    private func start(_ transfer: Transfer) {
        do throws(TransferFailure) {
            guard transfer.generation.isCurrent else { throw .superseded }
            try transfer.refuseForbiddenHost()
            let handle = try transfer.makeHandle()
            transfer.gathering = gathering
            transfers[handle] = transfer
            if transfer.request.hasContent { uploads[handle] = transfer }
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

    /// Takes a transfer out of wherever it is, and lets the next have its place.
    private func remove(_ transfer: Transfer) {
        if transfer.handle == nil {
            queues.remove(transfer)
        } else {
            detach(transfer)
            queues.leave(transfer)
            startNext(for: transfer)
        }
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        transfer.handle = nil
        transfers[handle] = nil
        uploads[handle] = nil
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
    }

    private func handOver() {
        for transfer in gathering.removeAll() {
            transfer.handOver()
            // What cannot be kept need not come.
            if transfer.handle != nil, let loss = transfer.handleState.contentLoss {
                remove(transfer)
                transfer.end(loss)
                if !transfer.isOver { waiting[ObjectIdentifier(transfer)] = transfer }
            }
        }
    }

    // MARK: Ends

    private func collect() {
        var left: CInt = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = transfers[handle]
            else { continue }
            // Removing the handle ends the message's life.
            let result = pintle_curl_message_result(message)
            if transfer.mayBeRepeated {
                detach(transfer)
                transfer.wantsFreshConnection = true
                start(transfer)
                startNext(for: transfer)
            } else {
                // Reported first: closing a connection takes longer.
                transfer.end(result)
                remove(transfer)
                if !transfer.isOver { waiting[ObjectIdentifier(transfer)] = transfer }
            }
        }
    }

    private func endOverdue() {
        let now = ProcessInfo.processInfo.systemUptime
        guard now >= nextDeadline else { return }
        nextDeadline = .infinity
        for transfer in Array(transfers.values) + queues.waiting + Array(waiting.values) {
            // A transfer that waits in its queue, or has ended, is not slow: only the deadline of the task counts.
            let deadline = transfer.handle == nil ? transfer.request.deadline : deadline(of: transfer)
            if deadline <= now {
                remove(transfer)
                waiting[ObjectIdentifier(transfer)] = nil
                transfer.end(.timedOut)
            } else {
                nextDeadline = min(nextDeadline, deadline)
            }
        }
    }

    private func lookAgain() {
        nextLook = .infinity
        guard !uploads.isEmpty else { return }
        let now = ProcessInfo.processInfo.systemUptime
        for transfer in uploads.values { nextLook = min(nextLook, transfer.lookAgain(at: now)) }
    }

    /// Returns the uptime at which a transfer times out. A hold stops the idle time-out, and not the deadline of the task.
    private func deadline(of transfer: Transfer) -> Double {
        guard transfer.holds.isEmpty else {
            return min(ProcessInfo.processInfo.systemUptime + transfer.request.idleTimeout, transfer.request.deadline)
        }
        return min(transfer.lastActivity + transfer.request.idleTimeout, transfer.request.deadline)
    }
}
