internal import Foundation

/// The events of a transfer. They come on the transport's thread, and no implementation may block it.
protocol TransferEvents: AnyObject, Sendable {
    func transfer(_ transfer: Transfer, didSend count: Int)
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold
    /// Returns reasons to hold the transfer; `nil` ends it.
    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold?
    /// The last event. It comes exactly once.
    func transfer(_ transfer: Transfer, didComplete failure: TransferFailure?)
}
