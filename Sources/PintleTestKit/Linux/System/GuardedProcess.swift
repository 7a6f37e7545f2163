internal import PintleSystem

/// The end of an untrusted program, and the end of its output.
package struct GuardedProcess: Sendable {
    package enum End: Sendable, Hashable {
        /// The exit status, or 128 plus the number of the signal that ended it.
        case exited(Int32)
        /// Killed after the time-out.
        case timedOut
        /// Killed after a cancellation.
        case cancelled
    }

    package let end: End
    package let stdout: [UInt8]
    package let stderr: [UInt8]
    package let milliseconds: Int

    /// Runs a program that may do anything: print without end, never end, start others. Its process group does not
    /// outlive the call. The calling thread waits.
    /// - Parameters:
    ///   - command: The program, looked up in `PATH` unless it holds a slash, and its arguments.
    ///   - input: The bytes of its standard input, then end of file.
    ///   - environment: Variables to set, besides those of this process.
    ///   - removed: Variables of this process that the program does not get.
    ///   - workingDirectory: `nil` for that of this process.
    ///   - timeout: The time limit, in seconds.
    ///   - mayContinue: Returns `true` to let the program run on after the time limit. It is called about fifty times a
    ///     second.
    ///   - outputLimit: The number of bytes to keep of each output, from its end.
    ///   - isCancelled: Returns `true` to kill the program. It is called about fifty times a second.
    ///   - beforeCleanup: Runs once, before the program is killed, or else before the processes that it may have left
    ///     behind are.
    /// - Throws: an error if the program cannot be started.
    package static func run(
        _ command: [String], input: [UInt8] = [], environment: [String: String] = [:],
        without removed: Set<String> = [], workingDirectory: String? = nil, timeout: Double, outputLimit: Int,
        mayContinue: () -> Bool = { false }, isCancelled: () -> Bool = { false },
        beforeCleanup: () -> Void = {}
    ) throws(SystemCallError) -> GuardedProcess {
        let stdout = try Pipe()
        let stderr = try Pipe()
        let begin = ContinuousClock.now
        let deadline = Deadline(seconds: timeout)
        let child = try spawn(
            command, input: input, stdout: stdout.writeEnd.number, stderr: stderr.writeEnd.number,
            environment: environment, without: removed, workingDirectory: workingDirectory)
        stdout.writeEnd.close()
        stderr.writeEnd.close()
        var drains = [Drain(stdout.readEnd, limit: outputLimit), Drain(stderr.readEnd, limit: outputLimit)]
        var killed: End?
        while !hasEnded(child) {
            let wait = killed == nil && !deadline.hasPassed ? min(20, deadline.remainingMilliseconds) : 20
            if drains.contains(where: \.isOpen) {
                _ = Drain.poll(&drains, milliseconds: wait)
            } else {
                usleep(1_000)
            }
            let isDoomed = killed != nil
            if isCancelled() {
                killed = .cancelled
            } else if deadline.hasPassed, !isDoomed, !mayContinue() {
                killed = .timedOut
            }
            guard killed != nil else { continue }
            if !isDoomed { beforeCleanup() }
            kill(-child, SIGKILL)
            // The program may have left its group.
            kill(child, SIGKILL)
        }
        let duration = begin.duration(to: .now)
        if killed == nil { beforeCleanup() }
        // Kills its children. The system reuses the group's number only after the wait below.
        kill(-child, SIGKILL)
        let status = waitForEnd(of: child) ?? -1
        // Processes that left the group may keep the pipes open. Read only the bytes that are there already.
        let rest = Deadline(seconds: 0.2)
        while Drain.poll(&drains, milliseconds: 0), !rest.hasPassed {}
        return GuardedProcess(
            end: killed ?? .exited(status), stdout: drains[0].bytes, stderr: drains[1].bytes,
            milliseconds: Int(duration / .milliseconds(1)))
    }

    /// Returns `true` if a child has ended, without reaping it.
    private static func hasEnded(_ child: pid_t) -> Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT)
        // The signal is SIGCHLD after the end. Count an error as the end too, so that the caller does not wait forever.
        return result != 0 ? errno != EINTR : information.si_signo != 0
    }
}
