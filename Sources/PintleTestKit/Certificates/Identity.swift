/// A TLS server's end-entity certificate, its key, and the certificates above.
public struct Identity: Sendable {
    /// The end-entity certificate.
    public var certificate: MintedCertificate
    /// The private key of the certificate.
    public var key: PrivateKey
    /// The certificates above, from the nearest to the root; empty for a self-signed certificate.
    public var issuers: [MintedCertificate]

    /// Makes an identity of parts that need not fit each other.
    ///
    /// - Parameters:
    ///   - certificate: the end-entity certificate.
    ///   - key: the private key of the server.
    ///   - issuers: the certificates above, from the nearest to the root.
    public init(certificate: MintedCertificate, key: PrivateKey, issuers: [MintedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }

    /// The certificates that a correct server sends: leaf first, DER, without the root.
    public var chain: [[UInt8]] { [certificate.der] + issuers.dropLast().map(\.der) }

    /// The chain with the root at its end.
    public var chainWithRoot: [[UInt8]] { [certificate.der] + issuers.map(\.der) }

    /// ``chain`` in PEM, as in a server's certificate file.
    public var chainPEM: String { PEM.bundle(chain) }

    /// Mints a self-signed leaf, as `openssl req -x509` makes it: cA=TRUE, no key usage and no purposes.
    ///
    /// - Parameters:
    ///   - hosts: the names and addresses in the certificate.
    ///   - keyType: the kind of key to generate.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the key cannot be generated, or cannot sign.
    public static func selfSigned(
        hosts: [String] = ["localhost", "127.0.0.1", "::1"], keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        let key = try PrivateKey(keyType)
        var template = CertificateTemplate.forServer(hosts: hosts)
        template.basicConstraints = .init(isCA: true)
        template.keyUsage = nil
        template.extendedKeyUsage = nil
        configure(&template)
        return Identity(certificate: try template.selfSigned(with: key), key: key)
    }

    /// Mints a new certificate with the same names and key.
    ///
    /// - Parameters:
    ///   - authority: the issuer of the new certificate.
    ///   - configure: changes the certificate before it is signed.
    /// - Throws: ``MintingError`` if the authority's key cannot sign.
    public func renewed(
        by authority: CertificateAuthority, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(MintingError) -> Identity {
        var template = certificate.template
        template.serialNumber = CertificateTemplate.randomSerialNumber()
        template.notBefore = .fromNow(seconds: -3_600)
        template.notAfter = .fromNow(days: 90)
        configure(&template)
        return Identity(
            certificate: try template.minted(for: key, by: authority), key: key,
            issuers: [authority.certificate] + authority.issuers)
    }

    /// Returns an authority that signs with this leaf's key, for a path that validators must refuse.
    public func misusedAsAuthority() -> CertificateAuthority {
        CertificateAuthority(certificate: certificate, key: key, issuers: issuers)
    }
}

/// A certificate minted for a test, with its key and its template.
public struct MintedCertificate: Sendable {
    /// The certificate, DER.
    public let der: [UInt8]
    /// The key pair that the certificate was minted for. The certificate carries its public half, unless the template
    /// has another one.
    public let key: PrivateKey
    /// The content that was signed. For a twin that differs in one thing, change a copy and mint it.
    package let template: CertificateTemplate
    /// The SubjectPublicKeyInfo in the certificate, DER.
    public let spkiDER: [UInt8]
    /// The subject key identifier in the certificate, or `nil`.
    package let subjectKeyIdentifier: [UInt8]?

    package var subject: CertificateTemplate.DistinguishedName { template.subject }

    /// The certificate as `-----BEGIN CERTIFICATE-----`.
    public var pem: String { PEM.encode(der) }
}
