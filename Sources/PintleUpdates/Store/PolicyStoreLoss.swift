public import PintleStorage

/// What happened to a stored update.
public struct PolicyStoreLoss: Sendable, Hashable {
    /// The reason for the loss.
    public enum Cause: Sendable, Hashable {
        /// Its file is gone.
        case missing
        /// Its file cannot be read.
        case unreadable(StorageError)
        /// It does not pass the checks any more.
        case rejected(UpdateRejection)
    }

    /// The version that was in force, where the floor tells.
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
