public import Pintle

/// The part of the client's identity that a server got.
public enum ClientCertificateUse: Sendable, Hashable {
    /// The server did not ask.
    case notRequested
    /// The server asked, and got none.
    case withheld
    /// The server got the certificate with this fingerprint, and a signature of its key.
    case shown(CertificatePin)
}
