#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The content of a certificate before it is signed, for the closures of ``CertificateAuthority`` and ``Identity``.
///
/// The defaults make a certificate for TLS servers that strict validators accept. Fields are written in the order of
/// RFC 5280 section 4.1. They are not checked.
public struct CertificateTemplate: Sendable {
    /// The encoded version: 2 is v3. `nil` leaves the field out, which means v1.
    package var version: Int? = 2
    /// The content octets of the serial number's INTEGER. By default they are 16 random octets, positive.
    package var serialNumber: [UInt8] = CertificateTemplate.randomSerialNumber()
    /// The issuer; `nil` for the subject of the signing authority.
    package var issuer: CertificateTemplate.DistinguishedName?
    package var subject: CertificateTemplate.DistinguishedName = .empty
    /// The beginning of validity. By default it is one hour ago, for clocks that are slow.
    public var notBefore: CertificateTime = .fromNow(seconds: -3_600)
    /// The end of validity. By default it is in 90 days, for an authority in ten years.
    public var notAfter: CertificateTime = .fromNow(days: 90)
    /// The SubjectPublicKeyInfo, DER; `nil` for that of the certificate's key.
    public var subjectPublicKeyInfo: [UInt8]?

    package var subjectAltNames: [CertificateTemplate.GeneralName] = []
    /// The criticality; `nil` is critical if the subject is empty (RFC 5280 section 4.2.1.6).
    package var isSubjectAltNameCritical: Bool?
    /// `nil` leaves the extension out.
    package var basicConstraints: BasicConstraints? = BasicConstraints(isCA: false)
    /// The key usage, critical; `nil` leaves the extension out. For a non-critical one use ``extraExtensions``.
    package var keyUsage: CertificateTemplate.KeyUsage? = .digitalSignature
    /// `nil` leaves the extension out.
    package var extendedKeyUsage: [DERWriter.OID]? = [.serverAuth]
    package var isExtendedKeyUsageCritical = false
    package var nameConstraints: CertificateExtension?
    package var subjectKeyIdentifier: KeyIdentifier = .automatic
    package var authorityKeyIdentifier: KeyIdentifier = .automatic
    /// Extensions to write after the others, in this order. They may repeat another extension.
    package var extraExtensions: [CertificateExtension] = []
    /// Changes the finished list, for example drops, reorders or repeats extensions.
    package var editExtensions: (@Sendable (inout [CertificateExtension]) -> Void)?

    /// The signature algorithm; `nil` for the default of the signing key.
    package var signatureAlgorithm: SignatureAlgorithm?
    /// The AlgorithmIdentifier inside the signed part, DER; `nil` for that of the signature.
    package var innerAlgorithmIdentifier: [UInt8]?
    /// The AlgorithmIdentifier outside the signed part, DER; `nil` for that of the signature.
    package var outerAlgorithmIdentifier: [UInt8]?
    /// Changes the TBSCertificate before it is signed, for malformed content with a valid signature.
    package var editSignedPart: (@Sendable ([UInt8]) -> [UInt8])?
    /// Changes the signature.
    package var editSignature: (@Sendable ([UInt8]) -> [UInt8])?

    package init() {}

    /// Returns a template for a server with these names and addresses. The first is also the common name, if it has at
    /// most 64 characters.
    package static func forServer(hosts: [String]) -> CertificateTemplate {
        var template = CertificateTemplate()
        if let first = hosts.first, first.count <= 64 { template.subject = .commonName(first) }
        template.subjectAltNames = hosts.map { .host($0) }
        return template
    }

    /// Returns a template for an authority, valid for ten years.
    package static func forAuthority(_ name: String, pathLength: Int? = nil) -> CertificateTemplate {
        var template = CertificateTemplate()
        template.subject = .commonName(name)
        template.notAfter = .fromNow(days: 3_650)
        template.basicConstraints = BasicConstraints(isCA: true, pathLength: pathLength)
        template.keyUsage = [.keyCertSign, .cRLSign]
        template.extendedKeyUsage = nil
        return template
    }

    /// basicConstraints (RFC 5280 section 4.2.1.9).
    package struct BasicConstraints: Sendable, Hashable {
        package var isCA: Bool
        package var pathLength: Int?
        package var isCritical: Bool

        package init(isCA: Bool, pathLength: Int? = nil, critical: Bool = true) {
            self.isCA = isCA
            self.pathLength = pathLength
            isCritical = critical
        }
    }

    /// The source of a key identifier.
    package enum KeyIdentifier: Sendable, Hashable {
        /// For the subject, the first 20 octets of the SHA-256 of its SPKI (RFC 7093 section 2). For the authority, the
        /// subject key identifier of the issuer, and no extension in a self-signed certificate.
        case automatic
        case absent
        case octets([UInt8])
    }

    /// Returns 16 random octets, the first between 0x40 and 0x7F, so that the number is positive and keeps its length.
    package static func randomSerialNumber() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { index in
            let octet = UInt8.random(in: 0...255, using: &generator)
            return index == 0 ? octet & 0x3F | 0x40 : octet
        }
    }
}

extension CertificateTemplate {
    /// One name in a subjectAltName, in name constraints or in AIA (RFC 5280 section 4.2.1.6).
    package enum GeneralName: Sendable, Hashable {
        /// A dNSName, written unchanged, also with wildcards, NULs, upper case and U-labels.
        case dns(String)
        /// An iPAddress: 4 or 16 octets, or twice as many with the mask in name constraints.
        case ip([UInt8])
        /// An rfc822Name.
        case email(String)
        case uri(String)
        case directory(CertificateTemplate.DistinguishedName)
        /// An otherName with a UTF8String.
        case other(DERWriter.OID, String)
        /// A whole element.
        case raw([UInt8])

        /// Returns an iPAddress if `host` is an IPv4 or IPv6 literal, otherwise a dNSName.
        package static func host(_ host: String) -> GeneralName {
            var octets = [UInt8](repeating: 0, count: 16)
            if inet_pton(AF_INET, host, &octets) == 1 { return .ip(Array(octets.prefix(4))) }
            if inet_pton(AF_INET6, host, &octets) == 1 { return .ip(octets) }
            return .dns(host)
        }

        package func write(to der: inout DERWriter) {
            switch self {
            case .other(let type, let text):
                der.context(0) { der in
                    der.oid(type)
                    der.context(0) { $0.utf8String(text) }
                }
            case .email(let text): der.context(1, .primitive, content: Array(text.utf8))
            case .dns(let text): der.context(2, .primitive, content: Array(text.utf8))
            // A CHOICE cannot have an implicit tag, so the tag wraps the whole Name.
            case .directory(let name): der.context(4) { name.write(to: &$0) }
            case .uri(let text): der.context(6, .primitive, content: Array(text.utf8))
            case .ip(let octets): der.context(7, .primitive, content: octets)
            case .raw(let bytes): der.raw(bytes)
            }
        }
    }
}

extension CertificateTemplate {
    /// The permitted uses of a key (RFC 5280 section 4.2.1.3). Bit n of the raw value is bit n of the BIT STRING.
    package struct KeyUsage: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        package static let contentCommitment = KeyUsage(rawValue: 1 << 1)
        package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        package static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
        package static let keyAgreement = KeyUsage(rawValue: 1 << 4)
        package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
        package static let cRLSign = KeyUsage(rawValue: 1 << 6)
        package static let encipherOnly = KeyUsage(rawValue: 1 << 7)
        package static let decipherOnly = KeyUsage(rawValue: 1 << 8)

        /// DER drops the trailing zero bits of a named bit list (X.690 11.2.2).
        func write(to der: inout DERWriter) {
            guard rawValue != 0 else { return der.bitString([]) }
            let used = UInt16.bitWidth - rawValue.leadingZeroBitCount
            var octets = [UInt8](repeating: 0, count: (used + 7) / 8)
            for bit in 0..<used where rawValue & (1 << UInt16(bit)) != 0 {
                octets[bit / 8] |= 0x80 >> UInt8(bit % 8)
            }
            der.bitString(octets, unusedBits: UInt8(octets.count * 8 - used))
        }
    }
}
