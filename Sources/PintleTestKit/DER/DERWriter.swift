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
public struct DERWriter: Sendable {
    /// How the length of an element is written.
    public enum LengthForm: Sendable, Hashable {
        /// As DER demands (X.690 10.1).
        case minimal
        /// The long form in this many octets, 1 to 8, leading zeros included: BER, not DER. Too few
        /// octets for the length truncate it.
        case long(octets: Int)
        /// The indefinite form, closed by two zero octets: BER, not DER.
        case indefinite
    }

    /// Whether a context tag wraps an element or takes the place of its tag.
    public enum Tagging: Sendable, Hashable {
        /// `[n] EXPLICIT`, and `[n] IMPLICIT` of a SEQUENCE or SET: the constructed bit is set.
        case constructed
        /// `[n] IMPLICIT` of a string, INTEGER, BOOLEAN or OCTET STRING.
        case primitive
    }

    /// What has been written so far.
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// The bytes that `body` writes.
    public static func encode(_ body: (inout DERWriter) -> Void) -> [UInt8] {
        var writer = DERWriter()
        body(&writer)
        return writer.bytes
    }

    /// Bytes as they are.
    public mutating func raw(_ content: some Sequence<UInt8>) {
        bytes.append(contentsOf: content)
    }

    /// An element with any one-octet identifier.
    public mutating func element(tag: UInt8, length: LengthForm = .minimal, content: some Collection<UInt8>) {
        bytes.append(tag)
        appendLength(content.count, form: length)
        bytes.append(contentsOf: content)
        if length == .indefinite { bytes.append(contentsOf: [0, 0]) }
    }

    /// An element with any one-octet identifier around what `body` writes.
    public mutating func element(tag: UInt8, length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: tag, length: length, content: DERWriter.encode(body))
    }

    public mutating func sequence(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x30, length: length, body)
    }

    /// A SET with its elements in the order written; DER's ascending order is the caller's business.
    public mutating func set(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x31, length: length, body)
    }

    /// `[number]` around what `body` writes.
    public mutating func context(
        _ number: UInt8, _ tagging: Tagging = .constructed, _ body: (inout DERWriter) -> Void
    ) {
        element(tag: DERWriter.contextTag(number, tagging), body)
    }

    /// `[number]` with this content.
    public mutating func context(_ number: UInt8, _ tagging: Tagging, content: some Collection<UInt8>) {
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
