/// One name of a subject alternative name or of a constraint on names (RFC 5280 section 4.2.1.6).
package enum GeneralName: Sendable, Hashable {
    /// The octets of an IA5String, as they stand: whoever made the certificate chose them, and they
    /// may hold anything, NUL and upper case included.
    case dns(ArraySlice<UInt8>)
    /// Four or sixteen octets in a subject alternative name; twice as many, with the mask behind the
    /// address, in a constraint.
    case ipAddress(ArraySlice<UInt8>)
    /// The octets of an IA5String, as they stand.
    case email(ArraySlice<UInt8>)
    /// The octets of an IA5String, as they stand.
    case uri(ArraySlice<UInt8>)
    /// The DER of the Name.
    case directoryName(ArraySlice<UInt8>)
    /// `otherName`, `x400Address`, `ediPartyName` or `registeredID`, by tag number.
    case other(tag: UInt8, ArraySlice<UInt8>)

    /// - Parameter der: the array that `bytes` is a view of.
    init(_ element: DERElement, in bytes: borrowing Span<UInt8>, of der: [UInt8]) throws(DERError) {
        let octets = der[element.contents]
        switch element.tag {
        case DERTag.primitive(1): self = .email(try Self.ia5(octets, element))
        case DERTag.primitive(2): self = .dns(try Self.ia5(octets, element))
        case DERTag.primitive(6): self = .uri(try Self.ia5(octets, element))
        case DERTag.primitive(7): self = .ipAddress(octets)
        case DERTag.constructed(4):
            var inner = DERReader(contentsOf: element)
            let name = try inner.next(DERTag.sequence, in: bytes, reading: "directoryName")
            try inner.finish(reading: "directoryName")
            self = .directoryName(der[name.range])
        case DERTag.constructed(0), DERTag.constructed(3), DERTag.constructed(5), DERTag.primitive(8):
            self = .other(tag: element.tag & 0x1F, octets)
        default:
            throw DERError(.unexpectedTag, at: element.start, reading: "generalName")
        }
    }

    private static func ia5(_ octets: ArraySlice<UInt8>, _ element: DERElement) throws(DERError) -> ArraySlice<UInt8> {
        guard octets.allSatisfy({ $0 < 0x80 }) else {
            throw DERError(.invalidValue, at: element.start, reading: "generalName")
        }
        return octets
    }
}

extension GeneralName {
    /// How many more names of one certificate are read.
    struct Room {
        private var left = Certificate.maximumNames

        /// - Throws: where no more names are read.
        mutating func spendOne(at offset: Int, reading field: StaticString) throws(DERError) {
            guard left > 0 else { throw DERError(.tooLarge, at: offset, reading: field) }
            left -= 1
        }
    }
}

extension GeneralName: CustomStringConvertible {
    /// For people to read: a DNS name or an address as such, everything else with its kind before it.
    /// Bytes that could act on a terminal are escaped.
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
