internal import PintleOpenSSL

/// The number of bytes that OpenSSL may read from one connection.
struct ReadLimits: Sendable {
    /// In one turn of the loop, once the handshake is complete. nghttp2 takes no more than some milliseconds for as many
    /// bytes of the smallest frames.
    var perTurn = 256 << 10
    /// How many bytes of ``perTurn`` a message of the handshake protocol counts for once the handshake is complete, such
    /// as KeyUpdate (RFC 8446 section 4.6.3): OpenSSL takes 10 us for its 27 bytes.
    var perMessage = 4 << 10
    /// In one turn of the loop, while the handshake runs: a byte costs more there.
    var perTurnOfHandshake = 32 << 10
    /// In a whole handshake, the same as in the handshakes that Pintle makes itself.
    var handshake = ContextRestriction.handshakeAllowance
    /// `false` only in a test of a process without memory for a limit: then no connection is made.
    var isAvailable = true
}
