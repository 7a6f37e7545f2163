/// The tags that certificates use, as identifier octets (X.680 section 8.4).
package enum DERTag {
    static let boolean: UInt8 = 0x01
    package static let integer: UInt8 = 0x02
    package static let bitString: UInt8 = 0x03
    package static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    package static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// Returns the tag `[number]` with a constructed value.
    package static func constructed(_ number: UInt8) -> UInt8 { 0xA0 | number }
    /// Returns the tag `[number]` with a primitive value.
    package static func primitive(_ number: UInt8) -> UInt8 { 0x80 | number }
}

/// A cursor over adjacent DER elements.
///
/// The reader returns offsets, and takes the bytes for each step. It does not recurse: to read the contents of an
/// element, the caller opens another reader on them, which always cover fewer bytes. The reader accepts only DER:
/// definite lengths in their shortest form, at most four length octets, tag numbers up to 30.
package struct DERReader {
    private(set) var position: Int
    let end: Int

    /// Creates a reader of the elements in this range, which the caller took from an element or from the input.
    package init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    package init(contentsOf element: DERElement) {
        position = element.contentStart
        end = element.end
    }

    var isAtEnd: Bool { position >= end }

    /// Returns the tag of the next element, or `nil` at the end.
    func peekTag(in bytes: [UInt8]) -> UInt8? {
        position < end ? bytes[position] : nil
    }

    /// Reads the next element, whatever its tag.
    package mutating func next(in bytes: [UInt8], reading field: StaticString) throws(DERError) -> DERElement {
        let element = try read(in: bytes, reading: field)
        position = element.end
        return element
    }

    /// Reads the next element, which must have this tag.
    package mutating func next(
        _ tag: UInt8, in bytes: [UInt8], reading field: StaticString
    ) throws(DERError) -> DERElement {
        let element = try read(in: bytes, reading: field)
        guard element.tag == tag else { throw DERError(.unexpectedTag, at: element.start, reading: field) }
        position = element.end
        return element
    }

    /// Parses the element at the current position.
    private func read(in bytes: [UInt8], reading field: StaticString) throws(DERError) -> DERElement {
        let start = position
        guard end - start >= 2 else { throw DERError(.truncated, at: start, reading: field) }
        let tag = bytes[start]
        guard tag & 0x1F != 0x1F else { throw DERError(.highTagNumber, at: start, reading: field) }
        let first = bytes[start + 1]
        var contentStart = start + 2
        // A length of four octets can exceed `Int.max` on 32-bit systems.
        var length = UInt32(first)
        if first >= 0x80 {
            guard first != 0x80 else { throw DERError(.indefiniteLength, at: start, reading: field) }
            let octets = Int(first & 0x7F)
            guard octets <= 4 else { throw DERError(.lengthTooLarge, at: start, reading: field) }
            guard end - contentStart >= octets else { throw DERError(.truncated, at: start, reading: field) }
            length = 0
            for _ in 0..<octets {
                length = length << 8 | UInt32(bytes[contentStart])
                contentStart += 1
            }
            // DER requires the shortest form: no long form below 128, no leading zero octet.
            guard length >= 0x80, bytes[start + 2] != 0 else {
                throw DERError(.nonMinimalLength, at: start, reading: field)
            }
        }
        guard let count = Self.count(length, within: end - contentStart) else {
            throw DERError(.truncated, at: start, reading: field)
        }
        return DERElement(tag: tag, start: start, contentStart: contentStart, end: contentStart + count)
    }

    /// Returns the length as an integer of the offset's type, or `nil` if fewer octets are left.
    ///
    /// The function is generic so that tests can use the `Int` of 32-bit systems.
    static func count<Size: FixedWidthInteger>(_ length: UInt32, within available: Size) -> Size? {
        length <= available ? Size(length) : nil
    }

    /// Reads the next element if it has this tag. Otherwise returns `nil` and reads nothing.
    package mutating func nextIfPresent(
        _ tag: UInt8, in bytes: [UInt8], reading field: StaticString
    ) throws(DERError) -> DERElement? {
        guard peekTag(in: bytes) == tag else { return nil }
        return try next(tag, in: bytes, reading: field)
    }

    /// Throws if bytes are left to read.
    package func finish(reading field: StaticString) throws(DERError) {
        guard isAtEnd else { throw DERError(.trailingData, at: position, reading: field) }
    }
}

extension DERReader {
    /// Returns the INTEGERs at any depth: `Int.max` for one that is negative or that `Int` cannot hold. Those of one
    /// SEQUENCE are in its order.
    ///
    /// - Throws: an error if the bytes are not DER.
    package static func integers(in bytes: [UInt8]) throws(DERError) -> [Int] {
        var integers: [Int] = []
        var readers = [DERReader(bytes.indices)]
        while var reader = readers.popLast() {
            while !reader.isAtEnd {
                let element = try reader.next(in: bytes, reading: "parameters")
                if element.tag & 0x20 != 0 { readers.append(DERReader(contentsOf: element)) }
                guard element.tag == DERTag.integer else { continue }
                let octets = bytes[element.contents].drop { $0 == 0 }
                let isNegative = bytes[element.contents].first.map { $0 >= 0x80 } ?? false
                let fits = !isNegative && octets.count < Int.bitWidth / 8
                integers.append(fits ? octets.reduce(0) { $0 << 8 | Int($1) } : .max)
            }
        }
        return integers
    }
}
