/// One subject alternative name, or one name in a name constraint (RFC 5280 section 4.2.1.6).
package enum GeneralName: Sendable, Hashable {
    /// The octets of an IA5String, unchanged. The issuer of the certificate chose them, so they may hold any ASCII
    /// character, such as NUL or capital letters.
    case dns(ArraySlice<UInt8>)
    /// An address of 4 or 16 octets. In a name constraint a mask of the same size follows.
    case ipAddress(ArraySlice<UInt8>)
    /// The octets of an IA5String, unchanged.
    case email(ArraySlice<UInt8>)
    /// The octets of an IA5String, unchanged.
    case uri(ArraySlice<UInt8>)
    /// The DER of the Name.
    case directoryName(ArraySlice<UInt8>)
    /// A name of another type, by tag number: `otherName`, `x400Address`, `ediPartyName` or `registeredID`.
    case other(tag: UInt8, ArraySlice<UInt8>)

    /// Parses a name.
    init(_ element: DERElement, in bytes: [UInt8]) throws(DERError) {
        let octets = bytes[element.contents]
        switch element.tag {
        case DERTag.primitive(1): self = .email(try Self.ia5(octets, element, reading: "rfc822Name"))
        case DERTag.primitive(2): self = .dns(try Self.ia5(octets, element, reading: "dNSName"))
        case DERTag.primitive(6): self = .uri(try Self.ia5(octets, element, reading: "uniformResourceIdentifier"))
        case DERTag.primitive(7): self = .ipAddress(octets)
        case DERTag.constructed(4):
            var inner = DERReader(contentsOf: element)
            let name = try inner.next(DERTag.sequence, in: bytes, reading: "directoryName")
            try inner.finish(reading: "directoryName")
            self = .directoryName(bytes[name.range])
        case DERTag.constructed(0), DERTag.constructed(3), DERTag.constructed(5), DERTag.primitive(8):
            self = .other(tag: element.tag & 0x1F, octets)
        default:
            throw DERError(.unexpectedTag, at: element.start, reading: "generalName")
        }
    }

    private static func ia5(
        _ octets: ArraySlice<UInt8>, _ element: DERElement, reading field: StaticString
    ) throws(DERError) -> ArraySlice<UInt8> {
        guard octets.allSatisfy({ $0 < 0x80 }) else {
            throw DERError(.invalidValue, at: element.start, reading: field)
        }
        return octets
    }
}

extension GeneralName {
    /// The number of names of one certificate that may still be read.
    struct Room {
        private var left = Certificate.maximumNames

        /// Counts one name.
        ///
        /// - Throws: `tooLarge` if the certificate has too many names.
        mutating func spendOne(at offset: Int, reading field: StaticString) throws(DERError) {
            guard left > 0 else { throw DERError(.tooLarge, at: offset, reading: field) }
            left -= 1
        }
    }
}

extension GeneralName: CustomStringConvertible {
    /// The name for people: a DNS name or an address as such, other names after their type. Characters that could
    /// control a terminal are escaped.
    package var description: String {
        switch self {
        case .dns(let octets): Self.printable(octets)
        case .ipAddress(let octets): IPAddress(octets: octets)?.description ?? "IP:#\(octets.count) octets"
        case .email(let octets): "email:" + Self.printable(octets)
        case .uri(let octets): "URI:" + Self.printable(octets)
        case .directoryName: "directoryName"
        case .other(let tag, _): "[\(tag)]"
        }
    }

    private static func printable(_ octets: ArraySlice<UInt8>) -> String {
        octets.reduce(into: "") { text, octet in
            let scalar = Unicode.Scalar(octet)
            if octet < 0x20 || octet == 0x7F || scalar == "\\" {
                text += "\\" + Hex.encode([octet], upperCase: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
