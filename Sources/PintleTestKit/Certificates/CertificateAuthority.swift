/// An authority of one's own: a root that the client under test is told to trust, or an
/// intermediate below one.
///
/// ```swift
/// let root = try CertificateAuthority.root()
/// let intermediate = try root.intermediate()
/// let identity = try intermediate.issue(hosts: ["localhost", "127.0.0.1"])
/// let expired = try intermediate.issue(hosts: ["localhost"]) {
///     $0.notAfter = .fromNow(days: -1)
/// }
/// ```
public struct CertificateAuthority: Sendable {
    /// The authority's own certificate.
    public let certificate: MintedCertificate
    /// The private key that signs.
    public let key: PrivateKey
    /// The certificates above, nearest first, root last; empty for a root.
    public let issuers: [MintedCertificate]

    /// An authority from its parts, which need not fit each other.
    public init(certificate: MintedCertificate, key: PrivateKey, issuers: [MintedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }

    /// The certificate at the top, for a trust store.
    public var root: MintedCertificate { issuers.last ?? certificate }

    /// This certificate and those above, without the root; empty for a root.
    var intermediates: [MintedCertificate] {
        issuers.isEmpty ? [] : [certificate] + issuers.dropLast()
    }

    /// A self-signed root.
    public static func root(
        name: String = "Test Root", keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        try root(name: name, key: try PrivateKey(keyType), configure: configure)
    }

    /// A self-signed root with a key that exists already.
    public static func root(
        name: String = "Test Root", key: PrivateKey, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        var template = CertificateTemplate.forAuthority(name)
        configure(&template)
        return CertificateAuthority(certificate: try template.selfSigned(with: key), key: key)
    }

    /// An authority below this one.
    public func intermediate(
        name: String = "Test Intermediate", keyType: KeyType = .p256, pathLength: Int? = nil,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        let key = try PrivateKey(keyType)
        var template = CertificateTemplate.forAuthority(name, pathLength: pathLength)
        configure(&template)
        return CertificateAuthority(
            certificate: try template.minted(for: key, by: self), key: key, issuers: [certificate] + issuers)
    }

    /// An end-entity certificate for these names and addresses, with a new key.
    public func issue(
        hosts: [String] = ["localhost", "127.0.0.1", "::1"], keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        try issue(hosts: hosts, key: try PrivateKey(keyType), configure: configure)
    }

    /// An end-entity certificate for a key that exists already: a renewal keeps its key, and an
    /// attacker may be sold a certificate for anything.
    public func issue(
        hosts: [String] = ["localhost", "127.0.0.1", "::1"], key: PrivateKey,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        var template = CertificateTemplate.forServer(hosts: hosts)
        configure(&template)
        return Identity(
            certificate: try template.minted(for: key, by: self), key: key, issuers: [certificate] + issuers)
    }

    /// The same subject and key under another issuer: two paths lead up from what this authority
    /// has signed.
    public func crossSigned(
        by other: CertificateAuthority, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        var template = certificate.template
        template.serialNumber = CertificateTemplate.randomSerialNumber()
        configure(&template)
        return CertificateAuthority(
            certificate: try template.minted(for: key, by: other), key: key,
            issuers: [other.certificate] + other.issuers)
    }
}
