/// Reasons to pause a transfer.
struct TransferHold: OptionSet, Sendable {
    let rawValue: UInt8

    /// The delegate has been asked what to do.
    static let answer = TransferHold(rawValue: 1)
    /// Too much content is queued for the delegate.
    static let backlog = TransferHold(rawValue: 2)
    /// The task is suspended.
    static let suspended = TransferHold(rawValue: 4)
    /// The delegate is choosing the next request. Always set together with `answer`.
    static let choice = TransferHold(rawValue: 8)
}
