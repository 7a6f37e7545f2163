internal import PintleCrypto

/// A parsed X.509 certificate (RFC 5280 section 4).
///
/// The properties are claims that the certificate makes. Parsing verifies neither the signature nor the issuer.
/// Validation does that, and its result is a ``ValidatedPath``.
public struct Certificate: Sendable {
    /// The certificate in DER, exactly as it was received.
    public let der: [UInt8]
    /// The version: 1, 2 or 3.
    package let version: Int
    /// The content octets of the INTEGER: big endian, two's complement.
    package let serialNumber: ArraySlice<UInt8>
    /// The period in which the certificate is valid.
    public let validity: Validity
    /// The kind and size of the public key.
    package let publicKey: PublicKeyDescription
    /// The subject alternative names; `nil` without the extension.
    package let subjectAlternativeNames: [GeneralName]?
    /// The basic constraints; `nil` without the extension, like the properties below.
    package let basicConstraints: BasicConstraints?
    package let keyUsage: KeyUsage?
    package let extendedKeyUsage: ExtendedKeyUsage?
    package let nameConstraints: NameConstraints?

    let layout: CertificateLayout
    let extensions: [CertificateExtension]

    /// The maximum size of a certificate in bytes.
    package static let maximumSize = 256 * 1024
    /// The maximum number of names in a certificate: its subject alternative names plus the subtrees of its name
    /// constraints. Parsed names take ten times as much memory as in DER, so the limit bounds what an attacker's
    /// certificate can allocate.
    package static let maximumNames = 10_000

    /// Parses a certificate in DER.
    ///
    /// The whole structure must be valid, and so must the extensions that Pintle parses. An extension that occurs twice
    /// is an error (RFC 5280 section 4.2).
    public init(der: [UInt8]) throws(DERError) {
        guard der.count <= Self.maximumSize else { throw DERError(.tooLarge, at: 0, reading: "certificate") }
        let layout = try CertificateLayout(der)
        try DistinguishedName.check(layout.issuer, in: der)
        try DistinguishedName.check(layout.subject, in: der)
        let extensions = try Self.extensions(layout.extensions, in: der)

        var names: [GeneralName]?
        var basicConstraints: BasicConstraints?
        var keyUsage: KeyUsage?
        var extendedKeyUsage: ExtendedKeyUsage?
        var nameConstraints: NameConstraints?
        var room = GeneralName.Room()
        for field in extensions {
            switch field.identifier {
            case .subjectAltName: names = try Self.alternativeNames(field, in: der, &room)
            case .basicConstraints: basicConstraints = try BasicConstraints(field, in: der)
            case .keyUsage: keyUsage = try KeyUsage(field, in: der)
            case .extendedKeyUsage: extendedKeyUsage = try ExtendedKeyUsage(field, in: der)
            case .nameConstraints: nameConstraints = try NameConstraints(field, in: der, &room)
            default: break
            }
        }
        self.der = der
        version = layout.version
        serialNumber = der[layout.serialNumber]
        validity = try Validity(layout.validity, in: der)
        publicKey = try PublicKeyDescription(layout.subjectPublicKeyInfo, in: der)
        subjectAlternativeNames = names
        self.basicConstraints = basicConstraints
        self.keyUsage = keyUsage
        self.extendedKeyUsage = extendedKeyUsage
        self.nameConstraints = nameConstraints
        self.layout = layout
        self.extensions = extensions
    }

    /// The certificate as a PEM block.
    package var pem: String { PEMBlock.text(label: "CERTIFICATE", bytes: der) }

    /// The DER of the SubjectPublicKeyInfo. A public-key pin is its hash.
    public var subjectPublicKeyInfo: ArraySlice<UInt8> { der[layout.subjectPublicKeyInfo.range] }

    /// The SHA-256 of the SubjectPublicKeyInfo.
    public var publicKeyPin: PublicKeyPin {
        PublicKeyPin(digest: SHA256Digest(hashing: subjectPublicKeyInfo))
    }

    /// The SHA-256 of the certificate, commonly called its fingerprint.
    public var fingerprint: CertificatePin { CertificatePin(certificate: der) }

    /// The holder's name, as the certificate claims it. Each access parses it from the DER again.
    public var subject: DistinguishedName { name(layout.subject) }
    /// The issuer's name, as the certificate claims it. Each access parses it from the DER again.
    public var issuer: DistinguishedName { name(layout.issuer) }

    /// The DER of the subject, for comparing names byte for byte.
    package var subjectDER: ArraySlice<UInt8> { der[layout.subject.range] }
    package var issuerDER: ArraySlice<UInt8> { der[layout.issuer.range] }

    /// A Boolean value that indicates whether the issuer and the subject are equal. This is a claim: only a signature
    /// proves it.
    package var isSelfIssued: Bool { subjectDER == issuerDER }

    /// A Boolean value that indicates whether the certificate claims to be a certificate authority's.
    public var isCA: Bool { basicConstraints?.isCA ?? false }

    /// The number of names that ``maximumNames`` limits.
    var nameCount: Int {
        let constraints = nameConstraints.map { $0.permitted.count + $0.excluded.count } ?? 0
        return constraints + (subjectAlternativeNames?.count ?? 0)
    }

    private func name(_ element: DERElement) -> DistinguishedName {
        DistinguishedName(element, in: der)
    }

    /// The maximum number of extensions. Real certificates have far fewer; the limit bounds the quadratic search for
    /// duplicates.
    private static let maximumExtensions = 128

    /// Parses `Extensions ::= SEQUENCE SIZE (1..MAX) OF Extension`.
    private static func extensions(
        _ list: DERElement?, in bytes: [UInt8]
    ) throws(DERError) -> [CertificateExtension] {
        guard let list else { return [] }
        guard !list.isEmpty else { throw DERError(.invalidValue, at: list.start, reading: "extensions") }
        var extensions: [CertificateExtension] = []
        var reader = DERReader(contentsOf: list)
        while !reader.isAtEnd {
            let element = try reader.next(DERTag.sequence, in: bytes, reading: "extension")
            let field = try CertificateExtension(element, in: bytes)
            guard !extensions.contains(where: { $0.identifier == field.identifier }) else {
                throw DERError(.duplicate, at: element.start, reading: "extension")
            }
            guard extensions.count < maximumExtensions else {
                throw DERError(.tooLarge, at: list.start, reading: "extensions")
            }
            extensions.append(field)
        }
        return extensions
    }

    /// Returns the subject alternative names that a certificate request asks for (RFC 2985 section 5.4.2); `nil` if it
    /// asks for none.
    ///
    /// - Parameter attributes: the attributes of the request, with their tag.
    package static func alternativeNames(
        ofRequest attributes: DERElement, in bytes: [UInt8]
    ) throws(DERError) -> [GeneralName]? {
        var reader = DERReader(contentsOf: attributes)
        while !reader.isAtEnd {
            var attribute = DERReader(
                contentsOf: try reader.next(DERTag.sequence, in: bytes, reading: "attribute"))
            let type = try attribute.next(DERTag.objectIdentifier, in: bytes, reading: "attribute")
            guard bytes[type.contents].elementsEqual(extensionRequest) else { continue }
            var values = DERReader(contentsOf: try attribute.next(DERTag.set, in: bytes, reading: "attribute"))
            let list = try values.next(DERTag.sequence, in: bytes, reading: "extensions")
            var room = GeneralName.Room()
            for field in try extensions(list, in: bytes) where field.identifier == .subjectAltName {
                return try alternativeNames(field, in: bytes, &room)
            }
        }
        return nil
    }

    /// 1.2.840.113549.1.9.14 (RFC 2985 section 5.4.2).
    private static let extensionRequest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E]

    /// The names that the certificate claims: each subject alternative name as text (RFC 5280 section 4.2.1.6).
    /// Characters that could control a terminal are escaped. Empty for a certificate without that extension.
    public var names: [String] { (subjectAlternativeNames ?? []).map(\.description) }

    /// Parses `SubjectAltName ::= SEQUENCE SIZE (1..MAX) OF GeneralName`.
    private static func alternativeNames(
        _ field: CertificateExtension, in bytes: [UInt8], _ room: inout GeneralName.Room
    ) throws(DERError) -> [GeneralName] {
        var outer = DERReader(field.value)
        let list = try outer.next(DERTag.sequence, in: bytes, reading: "subjectAltName")
        try outer.finish(reading: "subjectAltName")
        guard !list.isEmpty else { throw DERError(.invalidValue, at: list.start, reading: "subjectAltName") }
        var names: [GeneralName] = []
        var reader = DERReader(contentsOf: list)
        while !reader.isAtEnd {
            try room.spendOne(at: list.start, reading: "subjectAltName")
            names.append(try GeneralName(reader.next(in: bytes, reading: "subjectAltName"), in: bytes))
        }
        return names
    }
}

extension Certificate: Hashable {
    /// Returns true if the DER is equal.
    public static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }
    /// Hashes the DER.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
