/// Writes ASN.1 in DER (X.690), and on request writes it wrongly.
///
/// A certificate that a validator must refuse is often one that no honest encoder would produce,
/// so every element can be given a length in more octets than it needs, and ``raw(_:)`` puts any
/// bytes anywhere.
///
/// ```swift
/// let name = DERWriter.encode { der in
///     der.sequence { der in
///         der.oid(.commonName)
///         der.utf8String("localhost")
///     }
/// }
/// ```
package struct DERWriter: Sendable {
    /// How the length of an element is written.
    package enum LengthForm: Sendable, Hashable {
        /// As DER demands (X.690 10.1).
        case minimal
        /// The long form in this many octets, 1 to 8, leading zeros included: BER, not DER. Too few
        /// octets for the length truncate it.
        case long(octets: Int)
        /// The indefinite form, closed by two zero octets: BER, not DER.
        case indefinite
    }

    /// Whether a context tag wraps an element or takes the place of its tag.
    package enum Tagging: Sendable, Hashable {
        /// `[n] EXPLICIT`, and `[n] IMPLICIT` of a SEQUENCE or SET: the constructed bit is set.
        case constructed
        /// `[n] IMPLICIT` of a string, INTEGER, BOOLEAN or OCTET STRING.
        case primitive
    }

    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// The bytes that `body` writes.
    package static func encode(_ body: (inout DERWriter) -> Void) -> [UInt8] {
        var writer = DERWriter()
        body(&writer)
        return writer.bytes
    }

    /// Bytes as they are.
    package mutating func raw(_ content: some Sequence<UInt8>) {
        bytes.append(contentsOf: content)
    }

    /// An element with any one-octet identifier.
    package mutating func element(tag: UInt8, length: LengthForm = .minimal, content: some Collection<UInt8>) {
        bytes.append(tag)
        appendLength(content.count, form: length)
        bytes.append(contentsOf: content)
        if length == .indefinite { bytes.append(contentsOf: [0, 0]) }
    }

    /// An element with any one-octet identifier around what `body` writes.
    package mutating func element(tag: UInt8, length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: tag, length: length, content: DERWriter.encode(body))
    }

    package mutating func sequence(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x30, length: length, body)
    }

    /// A SET with its elements in the order written; DER's ascending order is the caller's business.
    package mutating func set(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x31, length: length, body)
    }

    /// `[number]` around what `body` writes.
    package mutating func context(
        _ number: UInt8, _ tagging: Tagging = .constructed, _ body: (inout DERWriter) -> Void
    ) {
        element(tag: DERWriter.contextTag(number, tagging), body)
    }

    /// `[number]` with this content.
    package mutating func context(_ number: UInt8, _ tagging: Tagging, content: some Collection<UInt8>) {
        element(tag: DERWriter.contextTag(number, tagging), content: content)
    }

    static func contextTag(_ number: UInt8, _ tagging: Tagging) -> UInt8 {
        0x80 | (tagging == .constructed ? 0x20 : 0) | (number & 0x1F)
    }

    private mutating func appendLength(_ count: Int, form: LengthForm) {
        switch form {
        case .minimal where count < 0x80:
            bytes.append(UInt8(truncatingIfNeeded: count))
        case .minimal:
            let octets = (UInt64(count).bitWidth - UInt64(count).leadingZeroBitCount + 7) / 8
            appendLength(count, form: .long(octets: octets))
        case .long(let requested):
            let octets = min(max(requested, 1), 8)
            bytes.append(0x80 | UInt8(truncatingIfNeeded: octets))
            for index in (0..<octets).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> UInt64(8 * index)))
            }
        case .indefinite:
            bytes.append(0x80)
        }
    }
}

extension DERWriter {
    /// TRUE as 0xFF, FALSE as 0x00 (X.690 11.1).
    package mutating func boolean(_ value: Bool) {
        element(tag: 0x01, content: [value ? 0xFF : 0x00])
    }

    /// An INTEGER in as few octets as it needs.
    package mutating func integer(_ value: Int) {
        var octets: [UInt8] = []
        for index in (0..<8).reversed() {
            octets.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
        while octets.count > 1, octets[0] == (octets[1] & 0x80 == 0 ? 0x00 : 0xFF) {
            octets.removeFirst()
        }
        integer(content: octets)
    }

    /// An INTEGER with these content octets (two's complement, big-endian) as they are: empty,
    /// negative and needlessly long ones too.
    package mutating func integer(content: some Collection<UInt8>) {
        element(tag: 0x02, content: content)
    }

    /// An INTEGER that is the unsigned big-endian number in `magnitude`.
    package mutating func integer(magnitude: some Collection<UInt8>) {
        var octets = Array(magnitude.drop { $0 == 0 })
        if octets.first.map({ $0 & 0x80 != 0 }) ?? true { octets.insert(0, at: 0) }
        integer(content: octets)
    }

    /// A BIT STRING; `unusedBits` counts the bits to ignore in the last octet.
    package mutating func bitString(_ content: some Collection<UInt8>, unusedBits: UInt8 = 0) {
        element(tag: 0x03, content: [unusedBits] + content)
    }

    package mutating func octetString(_ content: some Collection<UInt8>) {
        element(tag: 0x04, content: content)
    }

    /// An OCTET STRING around what `body` writes, as extensions are.
    package mutating func octetString(_ body: (inout DERWriter) -> Void) {
        element(tag: 0x04, body)
    }

    package mutating func null() {
        element(tag: 0x05, content: [])
    }

    package mutating func oid(_ identifier: DERWriter.OID) {
        element(tag: 0x06, content: identifier.contentOctets)
    }

    /// A UTF8String. Control characters and bidirectional overrides pass as they are.
    package mutating func utf8String(_ text: String) {
        element(tag: 0x0C, content: Array(text.utf8))
    }

    /// A PrintableString, whose alphabet is not checked.
    package mutating func printableString(_ text: String) {
        element(tag: 0x13, content: Array(text.utf8))
    }

    /// An IA5String; text outside ASCII is written as UTF-8, which IA5String does not allow.
    package mutating func ia5String(_ text: String) {
        element(tag: 0x16, content: Array(text.utf8))
    }

    /// A UTCTime with this text, such as `270101000000Z`.
    package mutating func utcTime(_ text: String) {
        element(tag: 0x17, content: Array(text.utf8))
    }

    /// A GeneralizedTime with this text, such as `20510101000000Z`.
    package mutating func generalizedTime(_ text: String) {
        element(tag: 0x18, content: Array(text.utf8))
    }
}
