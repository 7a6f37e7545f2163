internal import PintleSystem
internal import Synchronization

/// A program that runs beside a test, such as a web server. It ends when the last reference to this object is released.
package final class ChildProcess: Sendable {
    package let processIdentifier: Int32
    private let endStatus = Mutex<Int32?>(nil)

    /// Starts a program, looked up in `PATH` unless it holds a slash.
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - input: The bytes of its standard input.
    ///   - environment: Variables that are added to those of this process, or replace them.
    ///   - workingDirectory: `nil` for that of this process.
    ///   - outputFile: The file for both its outputs; `nil` drops them.
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

    /// The exit status, or 128 plus the number of the signal that ended the program; `nil` while it runs.
    package var status: Int32? {
        endStatus.withLock { status in
            if status == nil { status = reap(processIdentifier) }
            return status
        }
    }

    /// Sends SIGTERM to the program and its children, and kills them after `grace` seconds. Returns when the program
    /// has ended.
    package func terminate(grace: Double = 2) {
        guard status == nil else { return }
        let deadline = Deadline(seconds: grace)
        kill(-processIdentifier, SIGTERM)
        while status == nil && !deadline.hasPassed { usleep(2_000) }
        endStatus.withLock { status in
            guard status == nil else { return }
            kill(-processIdentifier, SIGKILL)
            status = waitForEnd(of: processIdentifier)
        }
    }

    /// Waits until a server accepts connections on 127.0.0.1 at `port`. Returns `false` if the program ends or the time
    /// is up.
    package func waitUntilListening(on port: UInt16, timeout: Double = 10) -> Bool {
        let deadline = Deadline(seconds: timeout)
        while status == nil && !deadline.hasPassed {
            if (try? SocketAddress.loopback(port: port).connected()) != nil { return true }
            usleep(10_000)
        }
        return false
    }
}
