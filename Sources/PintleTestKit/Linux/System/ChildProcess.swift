internal import Glibc
internal import Synchronization

/// A program that runs beside a test, such as a web server; ended when the last reference goes.
package final class ChildProcess: Sendable {
    package let processIdentifier: Int32
    private let endStatus = Mutex<Int32?>(nil)

    /// Starts a program, looked up in `PATH` unless it holds a slash.
    /// - Parameters:
    ///   - outputFile: Where both its outputs go; `nil` drops them.
    package init(
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
    package var status: Int32? {
        endStatus.withLock { status in
            if status == nil { status = reap(processIdentifier) }
            return status
        }
    }

    /// Asks the program and all it has started to end (SIGTERM), and kills them after `grace`
    /// seconds. Returns when the program is gone.
    package func terminate(grace: Double = 2) {
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

extension ChildProcess {
    /// Waits until something accepts connections on 127.0.0.1 at `port`; false where the program
    /// ended or the time was up first.
    package func waitUntilListening(on port: UInt16, timeout: Double = 10) -> Bool {
        let deadline = Deadline(seconds: timeout)
        while status == nil && !deadline.isOver {
            if (try? SocketAddress.loopback(port: port).connected()) != nil { return true }
            usleep(10_000)
        }
        return false
    }
}
