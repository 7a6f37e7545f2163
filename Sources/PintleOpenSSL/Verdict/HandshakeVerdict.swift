/// The caller's answer to a ``PeerChain``.
package enum HandshakeVerdict: Hashable, Sendable {
    case accept
    /// The handshake ends here, and the server (and an interceptor's log) reads this alert.
    case reject(TLSAlert)
    /// The handshake ends here although the chain was not refused.
    case abort(HandshakeFault)
}
