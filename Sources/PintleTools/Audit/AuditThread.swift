internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintleSystem
internal import PintleTLSClient
internal import Synchronization

/// Hands the results of an audit from the thread that makes them to the thread that takes them.
///
/// A verdict runs inside OpenSSL, which cannot be interrupted. An audit therefore has a thread of its own, and the
/// thread that waits for it can stop waiting at any time. Lines that the audit puts after that are ignored.
final class AuditThread: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var end: Result<Bool, ToolError>?
        var isStopped = false
    }

    /// Lines that wait to be taken before the audit pauses, so that a slow reader does not fill the memory.
    private static let maximumLines = 256
    /// How long the audit may take to end once it is told to. Longer than any step of a handshake except a verdict.
    private static let grace = Duration.seconds(1)

    private let bell: Bell
    private let state = Mutex(State())
    private static let abandoned = Atomic(false)

    /// A Boolean value that indicates whether a thread was left behind. The process must then end by `_exit`, because a
    /// normal exit frees memory that OpenSSL still uses on that thread.
    static var isAnyLeftBehind: Bool { abandoned.load(ordering: .relaxed) }

    init() throws(ToolError) {
        do throws(HandshakeError) {
            bell = try Bell()
        } catch {
            throw ToolError(error)
        }
    }

    // MARK: The audit's side

    /// A Boolean value that indicates whether the audit is to end.
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Waits while too many lines wait to be taken. After a stop it does not wait: the audit puts only the results of
    /// the handshakes that it was ending.
    func put(_ line: [UInt8]) {
        while state.withLock({ !$0.isStopped && $0.lines.count >= Self.maximumLines }) { usleep(1_000) }
        state.withLock { $0.lines.append(line) }
        bell.ring()
    }

    private func finish(_ end: Result<Bool, ToolError>) {
        state.withLock { $0.end = end }
        bell.ring()
    }

    // MARK: The other side

    /// Runs `work` on a thread of its own until it ends, or until `goesOn` says no. Every line that the audit puts
    /// by then, and while it ends, is taken, so that no server with a result is asked again.
    ///
    /// - Parameters:
    ///   - handle: called on this thread with each line. If it throws, the audit ends and the other lines are dropped.
    ///   - goesOn: called on this thread after each line, and ten times a second at least; not after it has said no.
    /// - Returns: what `work` returned; `false` if it was stopped before it returned.
    func run(
        _ work: @escaping @Sendable () -> Result<Bool, ToolError>, handle: ([UInt8]) throws(ToolError) -> Void,
        goesOn: () -> Bool
    ) throws(ToolError) -> Bool {
        guard SystemThread.startDetached({ self.finish(work()) }) else {
            throw .unusable("no-resources", "the system gives no thread", hint: "ask fewer servers at a time")
        }
        do throws(ToolError) {
            while true {
                let (lines, end) = removeLines()
                var isWanted = true
                for line in lines {
                    try handle(line)
                    isWanted = isWanted && goesOn()
                }
                if isWanted, let end { return try end.get() }
                guard isWanted, goesOn() else { break }
                wait(atMost: 100)
            }
            guard case .success(true) = try stop(handle: handle) else { return false }
            return true
        } catch {
            _ = try stop { _ throws(ToolError) in }
            throw error
        }
    }

    private func removeLines() -> (lines: [[UInt8]], end: Result<Bool, ToolError>?) {
        bell.silence()
        return state.withLock { state in
            defer { state.lines = [] }
            return (state.lines, state.end)
        }
    }

    private func wait(atMost milliseconds: CInt) {
        var entry = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, milliseconds)
    }

    /// Tells the audit to end, and waits for a moment until it has.
    ///
    /// - Parameter handle: called with each line that was not handled yet.
    /// - Returns: what `work` returned; `nil` where its thread was left behind.
    private func stop(handle: ([UInt8]) throws(ToolError) -> Void) throws(ToolError) -> Result<Bool, ToolError>? {
        state.withLock { $0.isStopped = true }
        let start = ContinuousClock.now
        while true {
            let (lines, end) = removeLines()
            for line in lines { try handle(line) }
            if let end { return end }
            guard start.duration(to: .now) < Self.grace else {
                Self.abandoned.store(true, ordering: .relaxed)
                return nil
            }
            wait(atMost: 10)
        }
    }
}
