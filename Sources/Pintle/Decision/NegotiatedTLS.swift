/// The parameters of a TLS connection that client and server agreed on.
public struct NegotiatedTLS: Sendable, Hashable {
    /// The version: `TLS 1.2`, `TLS 1.3`.
    public let version: String
    /// The name of the cipher suite in IANA's registry "TLS Cipher Suites": `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    /// The group of the key exchange. It is `nil` for a key exchange without a group, which only TLS 1.2 has.
    public let keyExchangeGroup: KeyExchangeGroup?

    package init(version: String, cipherSuite: String, keyExchangeGroup: KeyExchangeGroup?) {
        self.version = version
        self.cipherSuite = cipherSuite
        self.keyExchangeGroup = keyExchangeGroup
    }
}

/// The group in which client and server of a TLS connection agreed on a key.
public struct KeyExchangeGroup: Sendable, Hashable, CustomStringConvertible {
    /// The name in IANA's registry "TLS Supported Groups": `x25519`, `secp256r1`, `X25519MLKEM768`.
    public let name: String

    /// Creates a group from the name that a TLS library gives it.
    package init(_ name: String) {
        self.name = name
    }

    /// A Boolean value that indicates whether the group combines ML-KEM (FIPS 203) with a classical group
    /// (RFC 10024). A recording of the connection then stays secret unless both are broken.
    public var isHybrid: Bool { Self.hybrids.contains(name) }

    /// The name.
    public var description: String { name }

    /// The hybrid groups with ML-KEM of IANA's registry. Drafts of Kyber are not among them.
    private static let hybrids: Set<String> = [
        "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "curveSM2MLKEM768",
    ]
}
