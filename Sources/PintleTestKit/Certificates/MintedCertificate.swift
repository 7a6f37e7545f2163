/// A certificate made for a test, with the key it was made for and the template it was made from.
public struct MintedCertificate: Sendable {
    /// Certificate, DER.
    public let der: [UInt8]
    /// The key pair whose public half the certificate carries, unless the template put another there.
    public let key: PrivateKey
    /// What the certificate was made from: change a copy and mint again for a twin that differs in
    /// one thing.
    public let template: CertificateTemplate
    /// The SubjectPublicKeyInfo in the certificate, DER.
    public let spkiDER: [UInt8]
    /// The subject key identifier in the certificate, if there is one.
    public let subjectKeyIdentifier: [UInt8]?

    public var subject: CertificateTemplate.DistinguishedName { template.subject }

    /// The certificate as `-----BEGIN CERTIFICATE-----`.
    public var pem: String { PEM.encode(der) }
}
