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
