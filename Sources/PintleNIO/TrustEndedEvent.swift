#if NIO
public import Pintle

/// A channel's user event: the verdict on its server no longer counts. It is fired once.
///
/// A pool hands out no further request on the channel, and closes it when the running ones have finished.
public struct TrustEndedEvent: Sendable, Hashable {
    /// The reason why the verdict no longer counts.
    public enum Reason: String, Sendable, Hashable {
        /// The source has a policy of a later generation. A new connection gets its verdict.
        case policyChanged = "policy-changed"
        /// The receipt's `validUntil` has passed, or the clock was set back to before the path was valid.
        case receiptEnded = "receipt-ended"
    }

    /// The receipt of the connection.
    public let receipt: TrustReceipt
    /// The reason why the verdict no longer counts.
    public let reason: Reason
}
#endif
