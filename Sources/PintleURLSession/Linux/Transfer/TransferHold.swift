/// Reasons to pause a transfer.
struct TransferHold: OptionSet, Sendable {
    let rawValue: UInt8

    /// A delegate has been asked what to do.
    static let answer = TransferHold(rawValue: 1)
    /// Too much content waits for the delegate.
    static let backlog = TransferHold(rawValue: 2)
    /// The task is suspended.
    static let suspended = TransferHold(rawValue: 4)
    /// The delegate is choosing the next request. Comes with `answer`.
    static let choice = TransferHold(rawValue: 8)
}
