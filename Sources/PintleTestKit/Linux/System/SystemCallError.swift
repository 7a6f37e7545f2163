internal import Glibc

/// A system call that failed.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, with its path or address.
    public let operation: String
    /// The value of `errno`.
    public let code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The operation and the system's text for ``code``.
    public var description: String { "\(operation): \(String(cString: strerror(code)))" }

    /// The error for a call that has just failed on this thread.
    static func last(_ operation: String) -> SystemCallError {
        SystemCallError(operation: operation, code: errno)
    }
}
