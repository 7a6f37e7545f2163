internal import Glibc

/// How a process ended and what it wrote.
public struct ProcessResult: Sendable, Hashable {
    /// The exit status, or 128 plus the number of the signal that ended it.
    public let status: Int32
    /// Whether it was killed because its time was up.
    public let timedOut: Bool
    public let stdout: [UInt8]
    public let stderr: [UInt8]

    /// ``stdout`` as UTF-8, repaired where it is not.
    public var output: String { String(decoding: stdout, as: UTF8.self) }
    /// ``stderr`` as UTF-8, repaired where it is not.
    public var errorOutput: String { String(decoding: stderr, as: UTF8.self) }
}

/// Runs a program to its end.
///
/// Both outputs are drained while it runs, so it never blocks on a full pipe; when its time is up,
/// its whole process group is killed. The calling thread waits.
/// - Parameters:
///   - command: The program, looked up in `PATH` unless it holds a slash, and its arguments.
///   - input: What it reads from standard input, then end of file.
///   - environment: Variables added to those of this process, or put in their place.
///   - workingDirectory: `nil`: that of this process.
///   - timeout: In seconds.
public func runProcess(
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
        // A grandchild may hold the pipes open for ever: once the child is gone, only what is
        // already there counts.
        if status == nil { status = reap(child) }
        let hadEnded = status != nil
        let progress = Drain.poll(&drains, milliseconds: hadEnded ? 100 : min(20, deadline.milliseconds))
        if hadEnded && !progress { break }
        if !hadEnded && deadline.isOver {
            timedOut = true
            kill(-child, SIGKILL)
            status = waitForEnd(of: child)
        }
    }
    while status == nil {
        status = reap(child)
        guard status == nil else { break }
        if deadline.isOver {
            timedOut = true
            kill(-child, SIGKILL)
            status = waitForEnd(of: child)
        } else {
            usleep(1_000)
        }
    }
    return ProcessResult(status: status ?? -1, timedOut: timedOut, stdout: drains[0].bytes, stderr: drains[1].bytes)
}
