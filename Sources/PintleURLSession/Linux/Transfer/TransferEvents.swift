internal import Foundation

/// What a transfer tells, always on the transport's thread: whoever listens must not wait there.
protocol TransferEvents: AnyObject, Sendable {
    func transfer(_ transfer: Transfer, didSend count: Int)
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold
    /// `nil` ends the transfer.
    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold?
    /// The last event, and exactly one.
    func transfer(_ transfer: Transfer, didComplete failure: TransferFailure?)
}
