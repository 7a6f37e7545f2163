/// A TLS server without a port, for connections that another server has accepted, such as a proxy. Threads may share
/// it.
package final class TLSService: Sendable {
    private let state: TLSServerState

    /// - Parameter configuration: its credential is for clients that get none of their own.
    package init(_ configuration: TLSServerConfiguration) throws(MintingError) {
        state = try TLSServerState(configuration)
    }

    /// Serves one connection to its end, on the calling thread.
    ///
    /// - Parameters:
    ///   - firstBytes: the bytes that were read from the connection already.
    ///   - credential: returns the certificates for a client, or `nil` for those of the configuration.
    ///   - application: gets the decrypted stream. The connection ends when it returns.
    /// - Returns: the record of the connection.
    package func serve(
        _ connection: TCPConnection, firstBytes: [UInt8],
        credential: @escaping (ClientHello, _ serverName: String?) -> TLSCredential?,
        application: (any ByteStream) -> Void
    ) -> TLSConnectionRecord {
        state.serve(connection, firstBytes: firstBytes, credential: credential, application: application)
    }
}
