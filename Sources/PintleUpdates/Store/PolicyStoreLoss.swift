public import PintleStorage

/// The loss of a stored update: its version and the reason.
public struct PolicyStoreLoss: Sendable, Hashable {
    /// The reason for the loss.
    public enum Cause: Sendable, Hashable {
        /// Its file is gone.
        case missing
        /// Its file cannot be read.
        case unreadable(StorageError)
        /// It no longer passes the checks.
        case rejected(UpdateRejection)
    }

    /// The version that was in force; `nil` if the floor does not say.
    public let version: Int?
    /// The reason for the loss.
    public let cause: Cause
}

extension PolicyStoreLoss.Cause: CustomStringConvertible {
    /// One line, lower case, no full stop.
    public var description: String {
        switch self {
        case .missing: "its file is gone"
        case .unreadable(let error): "\(error)"
        case .rejected(let rejection): "\(rejection)"
        }
    }
}
