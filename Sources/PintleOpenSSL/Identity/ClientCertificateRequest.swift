internal import COpenSSL
internal import Pintle

/// The certificates that a server asks a client for (RFC 8446 section 4.3.2, RFC 5246 section 7.4.4).
public struct ClientCertificateRequest: Hashable, Sendable {
    /// The names of the authorities that the server accepts, in the notation of RFC 4514, escaped; at most 32, and
    /// empty if the server names none.
    public let authorities: [String]
    /// The number of authorities that the server named.
    public let authorityCount: Int
    /// The kinds of key that the server accepts: `RSA`, `ECDSA`, `Ed25519`, `Ed448`, `ML-DSA`.
    public let keyTypes: [String]
}

extension ClientCertificateRequest: CustomStringConvertible {
    /// The authorities and the kinds of key in one line.
    public var description: String {
        let more = authorityCount > authorities.count ? " and \(authorityCount - authorities.count) more" : ""
        let names = authorities.isEmpty ? "any authority" : authorities.joined(separator: "; ") + more
        return "a certificate from \(names), with a key of the kind \(keyTypes.joined(separator: ", "))"
    }
}

extension ClientCertificateRequest {
    /// The most names that are kept.
    private static let authorityLimit = 32
    /// The most characters of a name that are kept.
    private static let nameLimit = 200

    /// Reads the request on a connection (`SSL *`) while OpenSSL asks for the certificate.
    init(on ssl: OpaquePointer) {
        let names = SSL_get0_peer_CA_list(ssl)
        let count = names.map { max(0, Int(OPENSSL_sk_num($0))) } ?? 0
        let authorities = (0..<min(count, Self.authorityLimit)).map { index in
            Self.text(of: OPENSSL_sk_value(names, CInt(index)).map { OpaquePointer($0) })
        }
        var keyTypes: [String] = []
        for index in 0..<max(0, SSL_get_sigalgs(ssl, 0, nil, nil, nil, nil, nil)) {
            var (low, high): (UInt8, UInt8) = (0, 0)
            SSL_get_sigalgs(ssl, index, nil, nil, nil, &low, &high)
            if let type = Self.keyType(UInt16(high) << 8 | UInt16(low)), !keyTypes.contains(type) {
                keyTypes.append(type)
            }
        }
        self.init(authorities: authorities, authorityCount: count, keyTypes: keyTypes)
    }

    private static func text(of name: OpaquePointer?) -> String {
        var (bytes, count): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        guard let name, X509_NAME_get0_der(name, &bytes, &count) == 1,
            let parsed = try? DistinguishedName(der: Array(UnsafeBufferPointer(start: bytes, count: count)))
        else { return "?" }
        let text = parsed.description
        return text.count > nameLimit ? text.prefix(nameLimit) + "..." : text
    }

    /// Returns the kind of key for a number in IANA's registry "TLS SignatureScheme"; `nil` for another one.
    private static func keyType(_ scheme: UInt16) -> String? {
        switch scheme {
        case 0x0201, 0x0301, 0x0401, 0x0501, 0x0601, 0x0804...0x0806, 0x0809...0x080B: "RSA"
        case 0x0203, 0x0303, 0x0403, 0x0503, 0x0603, 0x081A...0x081C: "ECDSA"
        case 0x0807: "Ed25519"
        case 0x0808: "Ed448"
        case 0x0904...0x0906: "ML-DSA"
        default: nil
        }
    }
}
