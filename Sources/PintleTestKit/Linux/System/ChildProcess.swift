internal import Glibc
internal import Synchronization

/// A program that runs beside a test, such as a web server; ended when the last reference goes.
public final class ChildProcess: Sendable {
    public let processIdentifier: Int32
    private let endStatus = Mutex<Int32?>(nil)

    /// Starts a program, looked up in `PATH` unless it holds a slash.
    /// - Parameters:
    ///   - outputFile: Where both its outputs go; `nil` drops them.
    public init(
        _ command: [String], input: [UInt8] = [], environment: [String: String] = [:],
        workingDirectory: String? = nil, outputFile: String? = nil
    ) throws(SystemCallError) {
        let target = outputFile ?? "/dev/null"
        let number = open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .last("opening \(target)") }
        let output = FileDescriptor(number)
        processIdentifier = try spawn(
            command, input: input, stdout: output.number, stderr: output.number, environment: environment,
            workingDirectory: workingDirectory)
    }

    deinit { terminate() }

    /// The exit status, 128 plus the signal where one ended it; `nil` while the program runs.
    public var status: Int32? {
        endStatus.withLock { status in
            if status == nil { status = reap(processIdentifier) }
            return status
        }
    }

    /// Asks the program and all it has started to end (SIGTERM), and kills them after `grace`
    /// seconds. Returns when the program is gone.
    public func terminate(grace: Double = 2) {
        guard status == nil else { return }
        let deadline = Deadline(seconds: grace)
        kill(-processIdentifier, SIGTERM)
        while status == nil && !deadline.isOver { usleep(2_000) }
        endStatus.withLock { status in
            guard status == nil else { return }
            kill(-processIdentifier, SIGKILL)
            status = waitForEnd(of: processIdentifier)
        }
    }
}
