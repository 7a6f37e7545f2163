internal import Glibc

/// How somebody else's program ended, and the beginning of what it wrote.
package struct GuardedProcess: Sendable {
    package enum End: Sendable, Hashable {
        /// The exit status, or 128 plus the number of the signal that ended it.
        case exited(Int32)
        /// Killed, since its time was up.
        case timedOut
        /// Killed, since it was asked to.
        case cancelled
    }

    package let end: End
    package let stdout: [UInt8]
    package let stderr: [UInt8]
    package let milliseconds: Int

    /// Runs a program that may do anything: print without end, never end, start others. Nothing of its process group
    /// outlives the call, and of each output no more is kept than `outputLimit` bytes. The calling thread waits.
    /// - Parameters:
    ///   - command: The program, looked up in `PATH` unless it holds a slash, and its arguments.
    ///   - removed: Variables of this process that it does not get.
    ///   - timeout: In seconds.
    ///   - isCancelled: Asked some fifty times a second.
    ///   - willKill: Runs before the program is killed.
    /// - Throws: where it cannot be started.
    package static func run(
        _ command: [String], without removed: Set<String> = [], timeout: Double, outputLimit: Int,
        isCancelled: () -> Bool = { false }, willKill: () -> Void = {}
    ) throws(SystemCallError) -> GuardedProcess {
        let stdout = try Pipe()
        let stderr = try Pipe()
        let begin = ContinuousClock.now
        let deadline = Deadline(seconds: timeout)
        let child = try spawn(
            command, input: [], stdout: stdout.writeEnd.number, stderr: stderr.writeEnd.number, environment: [:],
            without: removed, workingDirectory: nil)
        stdout.writeEnd.close()
        stderr.writeEnd.close()
        var drains = [Drain(stdout.readEnd, limit: outputLimit), Drain(stderr.readEnd, limit: outputLimit)]
        var killed: End?
        while !hasEnded(child) {
            let wait = killed == nil ? min(20, deadline.milliseconds) : 20
            if drains.contains(where: \.isOpen) {
                _ = Drain.poll(&drains, milliseconds: wait)
            } else {
                usleep(1_000)
            }
            let isDoomed = killed != nil
            if isCancelled() { killed = .cancelled } else if deadline.isOver, !isDoomed { killed = .timedOut }
            guard killed != nil else { continue }
            if !isDoomed { willKill() }
            kill(-child, SIGKILL)
            // It may have left its group.
            kill(child, SIGKILL)
        }
        let duration = begin.duration(to: .now)
        // What it has started. Its number is nobody else's until it is waited for.
        kill(-child, SIGKILL)
        let status = waitForEnd(of: child) ?? -1
        // What left the group may hold the pipes open, and write: only what is there already counts.
        let rest = Deadline(seconds: 0.2)
        while !rest.isOver, Drain.poll(&drains, milliseconds: 0) {}
        return GuardedProcess(
            end: killed ?? .exited(status), stdout: drains[0].bytes, stderr: drains[1].bytes,
            milliseconds: Int(duration / .milliseconds(1)))
    }

    /// Whether a child has ended; it is left to be waited for.
    private static func hasEnded(_ child: pid_t) -> Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT)
        // SIGCHLD, once there is something to tell. An error would never end otherwise.
        return result != 0 ? errno != EINTR : information.si_signo != 0
    }
}
