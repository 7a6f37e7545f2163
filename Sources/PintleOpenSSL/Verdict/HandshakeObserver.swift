/// Receives the events of a connection with a ``VerificationHook``, on the thread that runs the connection.
package protocol HandshakeObserver: AnyObject {
    /// Called for each handshake message or alert from the server, also after the handshake.
    ///
    /// - Parameters:
    ///   - message: the bytes that OpenSSL parses next; valid during the call only.
    ///   - contentType: `SSL3_RT_HANDSHAKE` or `SSL3_RT_ALERT`.
    func received(_ message: UnsafeRawBufferPointer, _ contentType: CInt)

    /// Called when the hook has a verdict, or a reason why there is none.
    func changed(to state: VerificationHook.State)
}
