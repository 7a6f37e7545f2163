/// The certificates that a server asks a client for (RFC 8446 section 4.3.2, RFC 5246 section 7.4.4).
public struct ClientCertificateRequest: Hashable, Sendable {
    /// The names of the authorities that the server accepts, in the notation of RFC 4514, escaped; at most 32, and
    /// empty if the server names none.
    public let authorities: [String]
    /// The number of authorities that the server named.
    public let authorityCount: Int
    /// The kinds of key that the server accepts: `RSA`, `ECDSA`, `Ed25519`, `Ed448`, `ML-DSA`.
    public let keyTypes: [String]

    package init(authorities: [String], authorityCount: Int, keyTypes: [String]) {
        (self.authorities, self.authorityCount, self.keyTypes) = (authorities, authorityCount, keyTypes)
    }
}

extension ClientCertificateRequest: CustomStringConvertible {
    /// The authorities and the kinds of key in one line.
    public var description: String {
        let more = authorityCount > authorities.count ? " and \(authorityCount - authorities.count) more" : ""
        let names = authorities.isEmpty ? "any authority" : authorities.joined(separator: "; ") + more
        return "a certificate from \(names), with a key of the kind \(keyTypes.joined(separator: ", "))"
    }
}

/// The part of the client's identity that a server got.
public enum ClientCertificateUse: Sendable, Hashable {
    /// The server did not ask.
    case notRequested
    /// The server asked, and got none.
    case withheld
    /// The server got the certificate with this fingerprint, and a signature of its key.
    case shown(CertificatePin)
}
