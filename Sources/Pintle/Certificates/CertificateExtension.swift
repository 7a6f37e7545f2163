/// `Extension ::= SEQUENCE { extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }`
struct CertificateExtension {
    let identifier: OID
    let isCritical: Bool
    /// The range of the contents of the OCTET STRING.
    let value: Range<Int>

    init(_ element: DERElement, in bytes: [UInt8]) throws(DERError) {
        var reader = DERReader(contentsOf: element)
        let name = try reader.next(in: bytes, reading: "extnID")
        try name.checkObjectIdentifier(in: bytes, reading: "extnID")
        identifier = OID(name, in: bytes)
        // Accept an explicit FALSE, although DER forbids writing out a default: public authorities issue such
        // certificates.
        if let flag = try reader.nextIfPresent(DERTag.boolean, in: bytes, reading: "critical") {
            isCritical = try flag.boolean(in: bytes, reading: "critical")
        } else {
            isCritical = false
        }
        value = try reader.next(DERTag.octetString, in: bytes, reading: "extnValue").contents
        try reader.finish(reading: "extension")
    }
}

/// The basic constraints: whether a certificate may sign others, and how long the path below it may be (RFC 5280
/// section 4.2.1.9).
package struct BasicConstraints: Sendable, Hashable {
    package let isCA: Bool
    /// The maximum number of intermediates below this certificate; `nil` for no limit.
    package let pathLength: Int?
    package let isCritical: Bool

    /// Parses `BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL }`.
    init(_ field: CertificateExtension, in bytes: [UInt8]) throws(DERError) {
        var outer = DERReader(field.value)
        var reader = DERReader(
            contentsOf: try outer.next(DERTag.sequence, in: bytes, reading: "basicConstraints"))
        try outer.finish(reading: "basicConstraints")
        // Accept an explicit FALSE, as for `critical`.
        let flag = try reader.nextIfPresent(DERTag.boolean, in: bytes, reading: "cA")
        isCA = try flag?.boolean(in: bytes, reading: "cA") ?? false
        let limit = try reader.nextIfPresent(DERTag.integer, in: bytes, reading: "pathLenConstraint")
        pathLength = try limit?.smallInteger(in: bytes, reading: "pathLenConstraint")
        try reader.finish(reading: "basicConstraints")
        isCritical = field.isCritical
    }
}

/// The operations that a key may be used for (RFC 5280 section 4.2.1.3).
package struct KeyUsage: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    // Bit 0 of the BIT STRING is the most significant bit of `rawValue`.
    package static let digitalSignature = KeyUsage(rawValue: 0x8000)
    package static let nonRepudiation = KeyUsage(rawValue: 0x4000)
    package static let keyEncipherment = KeyUsage(rawValue: 0x2000)
    package static let dataEncipherment = KeyUsage(rawValue: 0x1000)
    package static let keyAgreement = KeyUsage(rawValue: 0x0800)
    package static let keyCertSign = KeyUsage(rawValue: 0x0400)
    package static let cRLSign = KeyUsage(rawValue: 0x0200)

    init(_ field: CertificateExtension, in bytes: [UInt8]) throws(DERError) {
        var reader = DERReader(field.value)
        let bits = try reader.next(in: bytes, reading: "keyUsage").bitString(in: bytes, reading: "keyUsage")
        try reader.finish(reading: "keyUsage")
        let first = bits.isEmpty ? 0 : UInt16(bytes[bits.lowerBound])
        let second = bits.count < 2 ? 0 : UInt16(bytes[bits.lowerBound + 1])
        rawValue = first << 8 | second
    }
}

/// The purposes that a certificate may be used for (RFC 5280 section 4.2.1.12).
package struct ExtendedKeyUsage: Sendable, Hashable {
    /// The purposes in the order of the certificate; at least one.
    package let purposes: [OID]
    package let isCritical: Bool

    package var allowsServerAuthentication: Bool { purposes.contains(.serverAuth) }
    package var allowsAny: Bool { purposes.contains(.anyExtendedKeyUsage) }

    /// The maximum number of purposes. Real certificates have far fewer, and each purpose allocates memory.
    private static let maximumPurposes = 128

    /// Parses `ExtKeyUsageSyntax ::= SEQUENCE SIZE (1..MAX) OF KeyPurposeId`.
    init(_ field: CertificateExtension, in bytes: [UInt8]) throws(DERError) {
        var outer = DERReader(field.value)
        let list = try outer.next(DERTag.sequence, in: bytes, reading: "extKeyUsage")
        try outer.finish(reading: "extKeyUsage")
        guard !list.isEmpty else { throw DERError(.invalidValue, at: list.start, reading: "extKeyUsage") }
        var purposes: [OID] = []
        var reader = DERReader(contentsOf: list)
        while !reader.isAtEnd {
            guard purposes.count < Self.maximumPurposes else {
                throw DERError(.tooLarge, at: list.start, reading: "extKeyUsage")
            }
            let purpose = try reader.next(in: bytes, reading: "extKeyUsage")
            try purpose.checkObjectIdentifier(in: bytes, reading: "extKeyUsage")
            purposes.append(OID(purpose, in: bytes))
        }
        self.purposes = purposes
        isCritical = field.isCritical
    }
}

/// The names that certificates below an authority may and may not carry (RFC 5280 section 4.2.1.10).
package struct NameConstraints: Sendable, Hashable {
    /// The permitted subtrees. A name of a form that occurs here must lie in one of them. Names of other forms are not
    /// restricted.
    package let permitted: [GeneralName]
    /// The excluded subtrees. No name may lie in one of them.
    package let excluded: [GeneralName]

    /// Parses `NameConstraints ::= SEQUENCE { permittedSubtrees [0] GeneralSubtrees OPTIONAL, excludedSubtrees [1]
    /// GeneralSubtrees OPTIONAL }`. Each list holds at least one subtree.
    init(
        _ field: CertificateExtension, in bytes: [UInt8], _ room: inout GeneralName.Room
    ) throws(DERError) {
        var outer = DERReader(field.value)
        let constraints = try outer.next(DERTag.sequence, in: bytes, reading: "nameConstraints")
        try outer.finish(reading: "nameConstraints")
        guard !constraints.isEmpty else {
            throw DERError(.invalidValue, at: constraints.start, reading: "nameConstraints")
        }
        var reader = DERReader(contentsOf: constraints)
        permitted = try Self.subtrees(
            reader.nextIfPresent(DERTag.constructed(0), in: bytes, reading: "permittedSubtrees"), in: bytes,
            &room)
        excluded = try Self.subtrees(
            reader.nextIfPresent(DERTag.constructed(1), in: bytes, reading: "excludedSubtrees"), in: bytes,
            &room)
        try reader.finish(reading: "nameConstraints")
    }

    /// Parses `GeneralSubtree ::= SEQUENCE { base GeneralName, minimum [0] DEFAULT 0, maximum [1] OPTIONAL }`. RFC 5280
    /// allows neither minimum nor maximum.
    private static func subtrees(
        _ list: DERElement?, in bytes: [UInt8], _ room: inout GeneralName.Room
    ) throws(DERError) -> [GeneralName] {
        guard let list else { return [] }
        guard !list.isEmpty else { throw DERError(.invalidValue, at: list.start, reading: "generalSubtrees") }
        var names: [GeneralName] = []
        var reader = DERReader(contentsOf: list)
        while !reader.isAtEnd {
            try room.spendOne(at: list.start, reading: "generalSubtrees")
            let subtree = try reader.next(DERTag.sequence, in: bytes, reading: "generalSubtree")
            var fields = DERReader(contentsOf: subtree)
            let base = try fields.next(in: bytes, reading: "base")
            try fields.finish(reading: "generalSubtree")
            names.append(try GeneralName(base, in: bytes))
        }
        return names
    }
}
