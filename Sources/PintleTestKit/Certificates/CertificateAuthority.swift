/// A test's own authority: a root that the client under test trusts, or an intermediate below a root.
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
    /// The certificates above, from the nearest to the root; empty for a root.
    public let issuers: [MintedCertificate]

    /// Makes an authority of parts that need not fit each other.
    ///
    /// - Parameters:
    ///   - certificate: the authority's own certificate.
    ///   - key: the private key that signs.
    ///   - issuers: the certificates above, from the nearest to the root.
    public init(certificate: MintedCertificate, key: PrivateKey, issuers: [MintedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }

    /// The root certificate, for a trust store.
    public var root: MintedCertificate { issuers.last ?? certificate }

    /// This certificate and those above without the root; empty for a root.
    var intermediates: [MintedCertificate] {
        issuers.isEmpty ? [] : [certificate] + issuers.dropLast()
    }

    /// Mints a self-signed root with a new key.
    ///
    /// - Parameters:
    ///   - name: the common name of the subject.
    ///   - keyType: the kind of key to generate.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot be generated, or cannot sign.
    public static func root(
        name: String = "Test Root", keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        try root(name: name, key: try PrivateKey(keyType), configure: configure)
    }

    /// Mints a self-signed root with an existing key.
    ///
    /// - Parameters:
    ///   - name: the common name of the subject.
    ///   - key: the key of the root.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot sign.
    public static func root(
        name: String = "Test Root", key: PrivateKey, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> CertificateAuthority {
        var template = CertificateTemplate.forAuthority(name)
        configure(&template)
        return CertificateAuthority(certificate: try template.selfSigned(with: key), key: key)
    }

    /// Mints an authority below this one.
    ///
    /// - Parameters:
    ///   - name: the common name of the subject.
    ///   - keyType: the kind of key to generate.
    ///   - pathLength: the number of authorities that may follow below; `nil` for no limit.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot be generated, or this authority's key cannot sign.
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

    /// Mints a server certificate with a new key.
    ///
    /// - Parameters:
    ///   - hosts: the names and addresses in the certificate.
    ///   - keyType: the kind of key to generate.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot be generated, or the authority's key cannot sign.
    public func issue(
        hosts: [String] = ["localhost", "127.0.0.1", "::1"], keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        try issue(hosts: hosts, key: try PrivateKey(keyType), configure: configure)
    }

    /// Mints a server certificate for an existing key, such as a backup key, or a pinned key under a foreign authority.
    ///
    /// - Parameters:
    ///   - hosts: the names and addresses in the certificate.
    ///   - key: the key of the server.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the authority's key cannot sign.
    public func issue(
        hosts: [String] = ["localhost", "127.0.0.1", "::1"], key: PrivateKey,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        var template = CertificateTemplate.forServer(hosts: hosts)
        configure(&template)
        return Identity(
            certificate: try template.minted(for: key, by: self), key: key, issuers: [certificate] + issuers)
    }

    /// Mints a certificate with which a client authenticates itself (RFC 5280 section 4.2.1.12), and its key.
    ///
    /// - Parameters:
    ///   - name: the common name of the subject, at most 64 characters.
    ///   - keyType: the kind of key to generate.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot be generated, or the authority's key cannot sign.
    public func issueClient(
        name: String = "Test Client", keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        try issue(hosts: [], keyType: keyType) { template in
            template.subject = .commonName(name)
            template.extendedKeyUsage = [.clientAuth]
            configure(&template)
        }
    }

    /// Mints a certificate with the same subject and key under another issuer. Certificates of this authority have two
    /// paths then.
    ///
    /// - Parameters:
    ///   - other: the other issuer.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the other issuer's key cannot sign.
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
