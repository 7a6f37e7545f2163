internal import PintleProcess
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
/// Its process group does not outlive the call. The calling thread waits.
///
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
    let process = try GuardedProcess.run(
        command, input: input, environment: environment, workingDirectory: workingDirectory, timeout: timeout,
        outputLimit: .max)
    let status = if case .exited(let status) = process.end { status } else { 128 + SIGKILL }
    return ProcessResult(
        status: status, timedOut: process.end == .timedOut, stdout: process.stdout, stderr: process.stderr)
}

/// Returns the path of a program of the same build, in the folder of the running one, or `nil`.
package func siblingProgram(_ name: String) -> String? {
    guard let own = RunningProgram.path, let slash = own.lastIndex(of: "/") else { return nil }
    let path = String(own[...slash] + name)
    return access(path, X_OK) == 0 ? path : nil
}
