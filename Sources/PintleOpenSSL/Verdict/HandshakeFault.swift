internal import COpenSSL

/// The reason why a handshake ends without a verdict on the certificates. The server reads the alert `internal_error`.
package enum HandshakeFault: Hashable, Sendable, CaseIterable {
    /// OpenSSL handed over no chain that begins with the leaf.
    case noChain
    /// The name in SNI is not that of the server that is judged.
    case otherName
    /// A second chain came on a connection that was accepted.
    case askedTwice
    /// Another policy was in force by the time that the server showed its certificates.
    case superseded
    /// OpenSSL had no memory to keep what the verdict rests on.
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

    /// OpenSSL makes the alert from one of its error codes (`ssl_x509err2alert`).
    var verificationError: CInt {
        switch self {
        case .noChain, .otherName, .askedTwice, .superseded: X509_V_ERR_UNSPECIFIED
        case .outOfMemory: X509_V_ERR_OUT_OF_MEM
        }
    }
}
