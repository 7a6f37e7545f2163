/// A TLS server's end-entity certificate, its key, and the certificates above.
public struct Identity: Sendable {
    /// The end-entity certificate.
    public var certificate: MintedCertificate
    /// The private key of the certificate.
    public var key: PrivateKey
    /// The certificates above, nearest first, root last; empty for a self-signed one.
    public var issuers: [MintedCertificate]

    /// An identity from its parts, which need not fit each other.
    public init(certificate: MintedCertificate, key: PrivateKey, issuers: [MintedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }

    /// The certificates that a well-kept server sends: leaf first, DER, without the root.
    public var chain: [[UInt8]] { [certificate.der] + issuers.dropLast().map(\.der) }

    /// The chain with the root at its end.
    public var chainWithRoot: [[UInt8]] { [certificate.der] + issuers.map(\.der) }

    /// ``chain`` in PEM, as a server's certificate file holds it.
    public var chainPEM: String { PEM.bundle(chain) }

    /// A leaf that signs itself, as `openssl req -x509` makes it: cA=TRUE, no key usage and no
    /// purposes.
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

    /// The same names and key in a new certificate from `authority`.
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

    /// An end-entity certificate signed by this one's key, as if a leaf were an authority.
    public func misusedAsAuthority() -> CertificateAuthority {
        CertificateAuthority(certificate: certificate, key: key, issuers: issuers)
    }
}

/// A certificate made for a test, with the key it was made for and the template it was made from.
public struct MintedCertificate: Sendable {
    /// Certificate, DER.
    public let der: [UInt8]
    /// The key pair whose public half the certificate carries, unless the template put another there.
    public let key: PrivateKey
    /// The content that was signed: change a copy and mint again for a twin that differs in one thing.
    package let template: CertificateTemplate
    /// The SubjectPublicKeyInfo in the certificate, DER.
    public let spkiDER: [UInt8]
    /// The subject key identifier in the certificate, if there is one.
    package let subjectKeyIdentifier: [UInt8]?

    package var subject: CertificateTemplate.DistinguishedName { template.subject }

    /// The certificate as `-----BEGIN CERTIFICATE-----`.
    public var pem: String { PEM.encode(der) }
}
