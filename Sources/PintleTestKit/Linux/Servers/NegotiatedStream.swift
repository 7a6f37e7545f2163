/// A connection over TLS, with the facts of its handshake.
package protocol NegotiatedStream: KeptStream {
    /// The server's record of the connection so far.
    var record: TLSConnectionRecord { get }
    /// Adds bytes to ``TLSConnectionRecord/misdirectedByteCount``.
    func addMisdirectedBytes(_ count: Int)
}
