/// Hears what happens on a connection with a ``VerificationHook``, on the thread that runs the connection.
package protocol HandshakeObserver: AnyObject {
    /// A message came from the server, of the handshake protocol or an alert. After the handshake too.
    ///
    /// - Parameters:
    ///   - message: as OpenSSL parses it next; valid during the call only.
    ///   - contentType: `SSL3_RT_HANDSHAKE` or `SSL3_RT_ALERT`.
    func received(_ message: UnsafeRawBufferPointer, _ contentType: CInt)

    /// The hook has a verdict, or the reason why there is none.
    func changed(to state: VerificationHook.State)
}
