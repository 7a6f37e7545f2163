/// A server to make a handshake with, among many, and what to do about it.
///
/// Both closures run on the thread of the ``HandshakeLoop``, one at a time.
package struct HandshakeOrder {
    let target: HandshakeTarget
    let proxy: ProxyConfiguration
    let judge: (borrowing PeerChain) -> HandshakeVerdict
    let ended: (Result<TLSConnection, HandshakeError>) -> Void

    /// - Parameters:
    ///   - judge: called once at most, and not where no certificate arrives.
    ///   - ended: called once, unless the loop is stopped before. Nothing has been sent over the connection.
    package init(
        _ target: HandshakeTarget, via proxy: ProxyConfiguration,
        judge: @escaping (borrowing PeerChain) -> HandshakeVerdict,
        ended: @escaping (Result<TLSConnection, HandshakeError>) -> Void
    ) {
        self.target = target
        self.proxy = proxy
        self.judge = judge
        self.ended = ended
    }
}
