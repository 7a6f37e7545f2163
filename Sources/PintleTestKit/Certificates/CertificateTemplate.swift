/// Everything that a certificate says, each field with a sensible default and open to any change.
///
/// The defaults make an end-entity certificate for TLS servers that strict validators take; what
/// ``CertificateAuthority`` makes starts from ``forServer(hosts:)`` or ``forAuthority(_:pathLength:)``.
/// Fields are written in the order of RFC 5280 section 4.1; nothing is checked.
public struct CertificateTemplate: Sendable {
    /// The version as encoded: 2 is v3. `nil` leaves the field out, which means v1.
    public var version: Int? = 2
    /// Content octets of the serial number's INTEGER. By default 16 random octets, positive.
    public var serialNumber: [UInt8] = CertificateTemplate.randomSerialNumber()
    /// `nil`: the subject of whoever signs.
    public var issuer: CertificateTemplate.DistinguishedName?
    public var subject: CertificateTemplate.DistinguishedName = .empty
    /// One hour ago by default, for clocks that are a little off.
    public var notBefore: CertificateTime = .fromNow(seconds: -3_600)
    public var notAfter: CertificateTime = .fromNow(days: 90)
    /// SubjectPublicKeyInfo, DER. `nil`: that of the key the certificate is minted for.
    public var subjectPublicKeyInfo: [UInt8]?

    public var subjectAltNames: [CertificateTemplate.GeneralName] = []
    /// `nil`: critical exactly where the subject is empty (RFC 5280 section 4.2.1.6).
    public var isSubjectAltNameCritical: Bool?
    /// `nil` leaves the extension out.
    public var basicConstraints: BasicConstraints? = BasicConstraints(isCA: false)
    /// Critical; `nil` leaves the extension out. Another criticality goes through ``extraExtensions``.
    public var keyUsage: CertificateTemplate.KeyUsage? = .digitalSignature
    /// `nil` leaves the extension out.
    public var extendedKeyUsage: [DERWriter.OID]? = [.serverAuth]
    public var isExtendedKeyUsageCritical = false
    public var nameConstraints: CertificateExtension?
    public var subjectKeyIdentifier: KeyIdentifier = .automatic
    public var authorityKeyIdentifier: KeyIdentifier = .automatic
    /// Written after the others, in this order. May repeat an extension that is there already.
    public var extraExtensions: [CertificateExtension] = []
    /// Changes the finished list: drops, reorders or repeats extensions.
    public var editExtensions: (@Sendable (inout [CertificateExtension]) -> Void)?

    /// `nil`: the default of the key that signs.
    public var signatureAlgorithm: SignatureAlgorithm?
    /// AlgorithmIdentifier inside the signed part, DER. `nil`: that of the signature.
    public var innerAlgorithmIdentifier: [UInt8]?
    /// AlgorithmIdentifier outside the signed part, DER. `nil`: that of the signature.
    public var outerAlgorithmIdentifier: [UInt8]?
    /// Changes the TBSCertificate before it is signed: broken content under a good signature.
    public var editSignedPart: (@Sendable ([UInt8]) -> [UInt8])?
    /// Changes the signature.
    public var editSignature: (@Sendable ([UInt8]) -> [UInt8])?

    public init() {}

    /// An end-entity certificate for these names and addresses, the first also as common name where
    /// it fits (64 characters).
    public static func forServer(hosts: [String]) -> CertificateTemplate {
        var template = CertificateTemplate()
        if let first = hosts.first, first.count <= 64 { template.subject = .commonName(first) }
        template.subjectAltNames = hosts.map { .host($0) }
        return template
    }

    /// An authority that signs certificates, for ten years.
    public static func forAuthority(_ name: String, pathLength: Int? = nil) -> CertificateTemplate {
        var template = CertificateTemplate()
        template.subject = .commonName(name)
        template.notAfter = .fromNow(days: 3_650)
        template.basicConstraints = BasicConstraints(isCA: true, pathLength: pathLength)
        template.keyUsage = [.keyCertSign, .cRLSign]
        template.extendedKeyUsage = nil
        return template
    }

    /// basicConstraints (RFC 5280 section 4.2.1.9).
    public struct BasicConstraints: Sendable, Hashable {
        public var isCA: Bool
        public var pathLength: Int?
        public var isCritical: Bool

        public init(isCA: Bool, pathLength: Int? = nil, critical: Bool = true) {
            self.isCA = isCA
            self.pathLength = pathLength
            isCritical = critical
        }
    }

    /// Where a key identifier comes from.
    public enum KeyIdentifier: Sendable, Hashable {
        /// For the subject: the first 20 octets of the SHA-256 of its SPKI (RFC 7093 section 2). For
        /// the authority: the subject key identifier of whoever signs; none in self-signed ones.
        case automatic
        case absent
        case octets([UInt8])
    }

    /// 16 random octets, the first between 0x40 and 0x7F: positive, and never shortened.
    public static func randomSerialNumber() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { index in
            let octet = UInt8.random(in: 0...255, using: &generator)
            return index == 0 ? octet & 0x3F | 0x40 : octet
        }
    }
}
