/// Reasons to let nothing more arrive for a while.
struct TransferHold: OptionSet, Sendable {
    let rawValue: UInt8

    /// A delegate has been asked what to do.
    static let answer = TransferHold(rawValue: 1)
    /// A delegate has more than enough to work off.
    static let backlog = TransferHold(rawValue: 2)
    /// The task is suspended.
    static let suspended = TransferHold(rawValue: 4)
    /// What a delegate has been asked is which request follows, if any: beside `answer`.
    static let choice = TransferHold(rawValue: 8)
}
