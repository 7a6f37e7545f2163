/// One of many servers for a ``HandshakeLoop``: the target, and the closures that judge it and receive the result.
///
/// Both closures run on the thread of the ``HandshakeLoop``, one at a time.
package struct HandshakeOrder {
    let target: HandshakeTarget
    let proxy: ProxyConfiguration
    let judge: (borrowing PeerChain) -> HandshakeVerdict
    let ended: (Result<TLSConnection, HandshakeError>) -> Void

    /// - Parameters:
    ///   - target: the server.
    ///   - proxy: the proxy to use, if any.
    ///   - judge: called at most once, and only if a certificate arrives.
    ///   - ended: called once with the result, unless the loop is stopped first. Nothing has been sent over the
    ///     connection.
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
