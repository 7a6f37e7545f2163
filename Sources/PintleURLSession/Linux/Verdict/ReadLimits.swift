internal import PintleOpenSSL

/// The number of bytes that OpenSSL may read from one connection.
struct ReadLimits: Sendable {
    /// In one pass of the loop, once the handshake is complete. OpenSSL and nghttp2 take no more than some milliseconds
    /// for as many bytes of the smallest messages and frames.
    var perTurn = 256 << 10
    /// In one pass of the loop, while the handshake runs: a byte costs more there.
    var perTurnOfHandshake = 32 << 10
    /// In a whole handshake, the same as in the handshakes that Pintle makes itself.
    var handshake = TLSContext.handshakeAllowance
}
