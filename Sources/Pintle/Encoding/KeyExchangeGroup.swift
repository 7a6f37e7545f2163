/// The group in which client and server of a TLS connection agreed on a key.
package struct KeyExchangeGroup: Sendable, Hashable, CustomStringConvertible {
    /// The name in IANA's registry "TLS Supported Groups": `x25519`, `secp256r1`, `X25519MLKEM768`.
    package let name: String

    /// Creates a group from the name that a TLS library gives it.
    package init(_ name: String) {
        self.name = name
    }

    /// A Boolean value that indicates whether the group combines ML-KEM (FIPS 203) with a classical group
    /// (RFC 10024). A recording of the connection then stays secret unless both are broken.
    package var isHybrid: Bool { Self.hybrids.contains(name) }

    /// The name.
    package var description: String { name }

    /// The hybrid groups with ML-KEM of IANA's registry. Drafts of Kyber are not among them.
    private static let hybrids: Set<String> = [
        "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "curveSM2MLKEM768",
    ]
}
