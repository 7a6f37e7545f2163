#if NIO
public import NIOCore

extension PinnedTLS {
    /// The time limits of a channel.
    public struct Timing: Sendable, Hashable {
        /// The longest time from the first byte to the end of the handshake, verdict included.
        public var handshake: TimeAmount
        /// The time between two checks of an open channel's receipt; at least a millisecond.
        public var check: TimeAmount

        /// Creates time limits.
        ///
        /// - Parameters:
        ///   - handshake: the longest time for the handshake, verdict included.
        ///   - check: the time between two checks of an open channel's receipt. A check takes less than a microsecond.
        public init(handshake: TimeAmount = .seconds(10), check: TimeAmount = .seconds(5)) {
            self.handshake = handshake
            self.check = check
        }
    }
}
#endif
