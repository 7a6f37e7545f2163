internal import PintleSystem

/// The exit status and the output of a process.
package struct ProcessResult: Sendable, Hashable {
    /// The exit status, or 128 plus the number of the signal that ended it.
    package let status: Int32
    /// A Boolean value that indicates whether the process was killed because its time was up.
    package let timedOut: Bool
    /// The bytes that it wrote to standard output.
    package let stdout: [UInt8]
    /// The bytes that it wrote to standard error.
    package let stderr: [UInt8]

    /// ``stdout`` as UTF-8, with replacement characters for invalid bytes.
    package var output: String { String(decoding: stdout, as: UTF8.self) }
    /// ``stderr`` as UTF-8, with replacement characters for invalid bytes.
    package var errorOutput: String { String(decoding: stderr, as: UTF8.self) }
}

/// Runs a program to its end.
///
/// The function reads both outputs while the program runs, so a full pipe never blocks it. After the time-out it kills
/// the program's process group. The calling thread waits.
/// - Parameters:
///   - command: The program, looked up in `PATH` unless it holds a slash, and its arguments.
///   - input: The bytes of its standard input, then end of file.
///   - environment: Variables that are added to those of this process, or replace them.
///   - workingDirectory: `nil` for that of this process.
///   - timeout: The time limit, in seconds.
/// - Returns: the exit status and both outputs.
/// - Throws: an error if the program cannot be started.
package func runProcess(
    _ command: [String], input: [UInt8] = [], environment: [String: String] = [:],
    workingDirectory: String? = nil, timeout: Double = 30
) throws(SystemCallError) -> ProcessResult {
    let stdout = try Pipe()
    let stderr = try Pipe()
    let deadline = Deadline(seconds: timeout)
    let child = try spawn(
        command, input: input, stdout: stdout.writeEnd.number, stderr: stderr.writeEnd.number,
        environment: environment, workingDirectory: workingDirectory)
    stdout.writeEnd.close()
    stderr.writeEnd.close()

    var drains = [Drain(stdout.readEnd), Drain(stderr.readEnd)]
    var status: Int32?
    var timedOut = false
    while drains.contains(where: \.isOpen) {
        // A grandchild may keep the pipes open forever. After the child's end, read only the bytes that are there
        // already.
        if status == nil { status = reap(child) }
        let hadEnded = status != nil
        let progress = Drain.poll(&drains, milliseconds: hadEnded ? 100 : min(20, deadline.remainingMilliseconds))
        if hadEnded && !progress { break }
        if !hadEnded && deadline.hasPassed {
            timedOut = true
            kill(-child, SIGKILL)
            status = waitForEnd(of: child)
        }
    }
    while status == nil {
        status = reap(child)
        guard status == nil else { break }
        if deadline.hasPassed {
            timedOut = true
            kill(-child, SIGKILL)
            status = waitForEnd(of: child)
        } else {
            usleep(1_000)
        }
    }
    return ProcessResult(status: status ?? -1, timedOut: timedOut, stdout: drains[0].bytes, stderr: drains[1].bytes)
}

/// Returns the path of a program of the same build, in the folder of the running one, or `nil`.
package func siblingProgram(_ name: String) -> String? {
    guard let own = RunningProgram.path, let slash = own.lastIndex(of: "/") else { return nil }
    let path = String(own[...slash] + name)
    return access(path, X_OK) == 0 ? path : nil
}
