internal import COpenSSL

/// The reason that a handshake ends without a verdict on the certificates. The server receives the alert
/// `internal_error`.
package enum HandshakeFault: Hashable, Sendable, CaseIterable {
    /// OpenSSL provided no chain that begins with the leaf.
    case noChain
    /// The name in SNI is not the name of the judged server.
    case otherName
    /// OpenSSL asked about a second chain on an accepted connection.
    case askedTwice
    /// The policy was replaced before the server showed its certificates.
    case superseded
    /// OpenSSL had no memory for the data that the verdict needs.
    case outOfMemory

    /// A clause for an error message.
    var text: String {
        switch self {
        case .noChain: "its chain cannot be read"
        case .otherName: "the name in SNI is another one"
        case .askedTwice: "it presented a second chain"
        case .superseded: "the policy changed meanwhile"
        case .outOfMemory: "OpenSSL has no memory for the verdict"
        }
    }

    /// The error code that OpenSSL translates to the alert (`ssl_x509err2alert`).
    var verificationError: CInt {
        switch self {
        case .noChain, .otherName, .askedTwice, .superseded: X509_V_ERR_UNSPECIFIED
        case .outOfMemory: X509_V_ERR_OUT_OF_MEM
        }
    }
}
