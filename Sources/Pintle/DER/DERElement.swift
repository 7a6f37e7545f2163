/// One type-length-value triple, kept as offsets into the bytes it was read from.
package struct DERElement {
    let tag: UInt8
    /// The offset of the identifier octet.
    package let start: Int
    /// The offset of the first content octet.
    let contentStart: Int
    /// The offset after the last content octet.
    let end: Int

    /// The range of the header and the contents.
    package var range: Range<Int> { start..<end }
    package var contents: Range<Int> { contentStart..<end }
    var isEmpty: Bool { contentStart == end }
    var count: Int { end - contentStart }
}

// MARK: The primitive values that certificates hold

extension DERElement {
    /// Parses a BOOLEAN: one octet, 0x00 or 0xFF (X.690 section 11.1).
    func boolean(in bytes: [UInt8], reading field: StaticString) throws(DERError) -> Bool {
        guard tag == DERTag.boolean, count == 1 else { throw DERError(.invalidValue, at: start, reading: field) }
        switch bytes[contentStart] {
        case 0x00: return false
        case 0xFF: return true
        default: throw DERError(.invalidValue, at: start, reading: field)
        }
    }

    /// Checks an INTEGER: at least one octet, two's complement in the shortest form (X.690 section 8.3.2).
    func checkInteger(in bytes: [UInt8], reading field: StaticString) throws(DERError) {
        guard tag == DERTag.integer, count >= 1 else { throw DERError(.invalidValue, at: start, reading: field) }
        if count >= 2 {
            let first = bytes[contentStart]
            let second = bytes[contentStart &+ 1]
            let isPadded = (first == 0x00 && second < 0x80) || (first == 0xFF && second >= 0x80)
            guard !isPadded else { throw DERError(.invalidValue, at: start, reading: field) }
        }
    }

    /// Parses an INTEGER that is not negative and fits an `Int32`.
    func smallInteger(in bytes: [UInt8], reading field: StaticString) throws(DERError) -> Int {
        try checkInteger(in: bytes, reading: field)
        guard count <= 4, bytes[contentStart] < 0x80 else { throw DERError(.invalidValue, at: start, reading: field) }
        var value = 0
        for index in contents { value = value << 8 | Int(bytes[index]) }
        return value
    }

    /// Parses a BIT STRING and returns the range of its octets, after the count of unused bits. Unused bits must be 0.
    package func bitString(in bytes: [UInt8], reading field: StaticString) throws(DERError) -> Range<Int> {
        guard tag == DERTag.bitString, count >= 1 else { throw DERError(.invalidValue, at: start, reading: field) }
        let unused = bytes[contentStart]
        guard unused < 8, unused == 0 || count >= 2 else { throw DERError(.invalidValue, at: start, reading: field) }
        let mask = UInt8(truncatingIfNeeded: (1 << Int(unused)) - 1)
        guard unused == 0 || bytes[end &- 1] & mask == 0 else {
            throw DERError(.invalidValue, at: start, reading: field)
        }
        return contentStart + 1..<end
    }

    /// Checks an OBJECT IDENTIFIER: at least one octet, each sub-identifier in the shortest form, and the last one
    /// complete (X.690 section 8.19).
    func checkObjectIdentifier(in bytes: [UInt8], reading field: StaticString) throws(DERError) {
        guard tag == DERTag.objectIdentifier, count >= 1, bytes[end &- 1] < 0x80 else {
            throw DERError(.invalidValue, at: start, reading: field)
        }
        var startsSubidentifier = true
        for index in contents {
            let octet = bytes[index]
            guard !(startsSubidentifier && octet == 0x80) else {
                throw DERError(.invalidValue, at: start, reading: field)
            }
            startsSubidentifier = octet < 0x80
        }
    }
}
