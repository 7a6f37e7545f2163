internal import PintleOpenSSL

/// Limits on the bytes that OpenSSL may read from one connection.
struct ReadLimits: Sendable {
    /// The limit for one turn of the loop after the handshake. nghttp2 needs only a few milliseconds for this many
    /// bytes of the smallest frames.
    var perTurn = 256 << 10
    /// The bytes of ``perTurn`` that a handshake message such as KeyUpdate costs after the handshake (RFC 8446 section
    /// 4.6.3). OpenSSL needs 10 us for its 27 bytes.
    var perMessage = 4 << 10
    /// The limit for one turn of the loop during the handshake, when each byte costs more time.
    var perTurnOfHandshake = 32 << 10
    /// The limit for a whole handshake, the same as for the handshakes that Pintle makes itself.
    var handshake = ContextRestriction.handshakeAllowance
    /// A Boolean value that is `false` only in tests that simulate missing memory: the limit cannot be installed, so no
    /// connection is made.
    var isAvailable = true
}
