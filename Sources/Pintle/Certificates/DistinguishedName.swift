/// The name of a certificate's subject or issuer (RFC 5280 section 4.1.2.4).
///
/// The name is for people to read. No decision depends on it, because anyone can write any name into a certificate.
public struct DistinguishedName: Sendable, Hashable {
    /// One attribute of the name.
    package struct Attribute: Sendable, Hashable {
        /// The object identifier in dotted notation.
        package let type: String
        /// The decoded text, unescaped. The issuer of the certificate chose it. `nil` if the value is not a string.
        package let value: String?
        /// A Boolean value that indicates whether the attribute is in the same SET as the one before it.
        let joinsPrevious: Bool
        /// The value in DER, including tag and length.
        let octets: [UInt8]
    }

    /// The attributes in the order of the encoding, which usually begins with the country and ends with the common
    /// name.
    package let attributes: [Attribute]

    /// The first common name, unescaped.
    public var commonName: String? {
        attributes.first { $0.type == "2.5.4.3" }?.value
    }

    /// A Boolean value that indicates whether the name has no attributes.
    package var isEmpty: Bool { attributes.isEmpty }

    /// Parses an element that has passed `check`.
    package init(_ name: DERElement, in bytes: [UInt8]) {
        var attributes: [Attribute] = []
        var sets = DERReader(contentsOf: name)
        while let set = try? sets.next(DERTag.set, in: bytes, reading: "relativeDistinguishedName") {
            var isFirst = true
            var pairs = DERReader(contentsOf: set)
            while let (type, value) = try? Self.pair(&pairs, in: bytes) {
                var octets: [UInt8] = []
                octets.reserveCapacity(value.range.count)
                for index in value.range { octets.append(bytes[index]) }
                attributes.append(
                    Attribute(
                        type: OID(type, in: bytes).description,
                        value: DirectoryString.decode(octets[(value.contentStart - value.start)...], tag: value.tag),
                        joinsPrevious: !isFirst, octets: octets))
                isFirst = false
            }
        }
        self.attributes = attributes
    }

    /// Parses a name that stands alone.
    package init(der: [UInt8]) throws(DERError) {
        var reader = DERReader(der.indices)
        let name = try reader.next(DERTag.sequence, in: der, reading: "name")
        try reader.finish(reading: "name")
        try Self.check(name, in: der)
        self.init(name, in: der)
    }

    /// Checks `Name ::= SEQUENCE OF SET SIZE (1..MAX) OF SEQUENCE { type OBJECT IDENTIFIER, value ANY }`.
    package static func check(_ name: DERElement, in bytes: [UInt8]) throws(DERError) {
        var sets = DERReader(contentsOf: name)
        while !sets.isAtEnd {
            let set = try sets.next(DERTag.set, in: bytes, reading: "relativeDistinguishedName")
            var pairs = DERReader(contentsOf: set)
            repeat { _ = try pair(&pairs, in: bytes) } while !pairs.isAtEnd
        }
    }

    /// Counts the emailAddress attributes (RFC 2985 section 5.2.1) of an element that has passed `check`.
    static func emailAddressCount(_ name: DERElement, in bytes: [UInt8]) -> Int {
        var count = 0
        var sets = DERReader(contentsOf: name)
        while let set = try? sets.next(DERTag.set, in: bytes, reading: "relativeDistinguishedName") {
            var pairs = DERReader(contentsOf: set)
            while let (type, _) = try? pair(&pairs, in: bytes) {
                if type.holds(.emailAddress, in: bytes) { count += 1 }
            }
        }
        return count
    }

    private static func pair(
        _ pairs: inout DERReader, in bytes: [UInt8]
    ) throws(DERError) -> (type: DERElement, value: DERElement) {
        let pair = try pairs.next(DERTag.sequence, in: bytes, reading: "attributeTypeAndValue")
        var reader = DERReader(contentsOf: pair)
        let type = try reader.next(in: bytes, reading: "attributeType")
        try type.checkObjectIdentifier(in: bytes, reading: "attributeType")
        let value = try reader.next(in: bytes, reading: "attributeValue")
        try reader.finish(reading: "attributeTypeAndValue")
        return (type, value)
    }
}

extension DistinguishedName: CustomStringConvertible {
    /// The name in the notation of RFC 4514, with a blank after each comma and the most specific attribute first.
    /// Control characters, and characters that could rearrange a line on the screen, are escaped.
    public var description: String {
        var groups: [String] = []
        for attribute in attributes {
            if attribute.joinsPrevious, !groups.isEmpty {
                groups[groups.count - 1] += "+" + attribute.description
            } else {
                groups.append(attribute.description)
            }
        }
        return groups.reversed().joined(separator: ", ")
    }
}

extension DistinguishedName.Attribute: CustomStringConvertible {
    /// The attribute in the notation of RFC 4514, for people to read.
    public var description: String {
        let name = Self.shortNames[type] ?? type
        guard let value else { return "\(name)=#\(Hex.encode(octets, upperCase: true))" }
        return "\(name)=\(Self.escaped(value))"
    }

    /// The names of RFC 4514 section 3, and further ones that openssl prints.
    private static let shortNames = [
        "2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L",
        "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title",
        "2.5.4.15": "businessCategory", "2.5.4.17": "postalCode", "2.5.4.42": "GN",
        "2.5.4.97": "organizationIdentifier", "0.9.2342.19200300.100.1.1": "UID",
        "0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "emailAddress",
        "1.3.6.1.4.1.311.60.2.1.1": "jurisdictionL", "1.3.6.1.4.1.311.60.2.1.2": "jurisdictionST",
        "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
    ]

    private static func escaped(_ value: String) -> String {
        var text = ""
        let scalars = Array(value.unicodeScalars)
        for (offset, scalar) in scalars.enumerated() {
            let isEdge = offset == 0 || offset == scalars.count - 1
            switch scalar {
            case ",", "+", "\"", "\\", "<", ">", ";": text += "\\\(scalar)"
            case "#" where offset == 0: text += "\\#"
            case " " where isEdge: text += "\\ "
            case _ where scalar.isUnsafeToPrint:
                for byte in String(scalar).utf8 { text += "\\\(Hex.encode([byte], upperCase: true))" }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character could control a terminal, change the text around it, or be
    /// invisible. These are control and format characters (including bidirectional overrides), line separators, blanks
    /// other than U+0020, combining marks, private-use and unassigned characters, and invisible letters (such as the
    /// Hangul fillers).
    package var isUnsafeToPrint: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        case .spaceSeparator: self != " "
        case .nonspacingMark, .enclosingMark: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

/// The string types that occur in names (X.680 section 41, RFC 5280 section 4.1.2.4).
enum DirectoryString {
    /// Returns the text, or `nil` if the tag is not a string type or the octets are invalid for that type.
    static func decode(_ octets: ArraySlice<UInt8>, tag: UInt8) -> String? {
        switch tag {
        case 0x0C:  // UTF8String
            // `String(decoding:)` replaces invalid bytes, so the octets are valid UTF-8 only if encoding gives them
            // back.
            let text = String(decoding: octets, as: UTF8.self)
            return text.utf8.elementsEqual(octets) ? text : nil
        case 0x12, 0x13, 0x16, 0x1A:  // NumericString, PrintableString, IA5String, VisibleString
            return octets.allSatisfy { $0 < 0x80 } ? String(decoding: octets, as: UTF8.self) : nil
        case 0x14:  // TeletexString: read as Latin-1, as all common software does
            return scalars(octets.map { UInt32($0) })
        case 0x1E:  // BMPString: no code points above U+FFFF, big endian
            return units(octets, width: 2).flatMap(scalars)
        case 0x1C:  // UniversalString: UTF-32, big endian
            return units(octets, width: 4).flatMap(scalars)
        default:
            return nil
        }
    }

    private static func scalars(_ values: [UInt32]) -> String? {
        var text = String.UnicodeScalarView()
        for value in values {
            guard let scalar = Unicode.Scalar(value) else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    private static func units(_ octets: ArraySlice<UInt8>, width: Int) -> [UInt32]? {
        guard octets.count.isMultiple(of: width) else { return nil }
        return stride(from: octets.startIndex, to: octets.endIndex, by: width).map { start in
            octets[start..<start + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
