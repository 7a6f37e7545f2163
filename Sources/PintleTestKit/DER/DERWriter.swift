/// Writes ASN.1 in DER (X.690), and on request malformed DER.
///
/// Many certificates that a validator must refuse are ones that no correct encoder produces. So every element can have
/// a length in more octets than necessary, and ``raw(_:)`` writes any bytes.
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
    /// The encoding of an element's length.
    package enum LengthForm: Sendable, Hashable {
        /// The encoding that DER demands (X.690 10.1).
        case minimal
        /// The long form in this many octets, 1 to 8, leading zeros included: BER, not DER. Too few
        /// octets for the length truncate it.
        case long(octets: Int)
        /// The indefinite form, closed by two zero octets: BER, not DER.
        case indefinite
    }

    /// The constructed bit of a context tag.
    package enum Tagging: Sendable, Hashable {
        /// `[n] EXPLICIT`, and `[n] IMPLICIT` of a SEQUENCE or SET: the constructed bit is set.
        case constructed
        /// `[n] IMPLICIT` of a string, INTEGER, BOOLEAN or OCTET STRING.
        case primitive
    }

    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Returns the bytes that `body` writes.
    package static func encode(_ body: (inout DERWriter) -> Void) -> [UInt8] {
        var writer = DERWriter()
        body(&writer)
        return writer.bytes
    }

    /// Writes bytes unchanged.
    package mutating func raw(_ content: some Sequence<UInt8>) {
        bytes.append(contentsOf: content)
    }

    /// Writes an element with any one-octet identifier.
    package mutating func element(tag: UInt8, length: LengthForm = .minimal, content: some Collection<UInt8>) {
        bytes.append(tag)
        appendLength(content.count, form: length)
        bytes.append(contentsOf: content)
        if length == .indefinite { bytes.append(contentsOf: [0, 0]) }
    }

    /// Writes an element with any one-octet identifier around the bytes that `body` writes.
    package mutating func element(tag: UInt8, length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: tag, length: length, content: DERWriter.encode(body))
    }

    package mutating func sequence(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x30, length: length, body)
    }

    /// Writes a SET with its elements in the given order. The caller has to write them in DER's ascending order.
    package mutating func set(length: LengthForm = .minimal, _ body: (inout DERWriter) -> Void) {
        element(tag: 0x31, length: length, body)
    }

    /// Writes `[number]` around the bytes that `body` writes.
    package mutating func context(
        _ number: UInt8, _ tagging: Tagging = .constructed, _ body: (inout DERWriter) -> Void
    ) {
        element(tag: DERWriter.contextTag(number, tagging), body)
    }

    /// Writes `[number]` with this content.
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
    /// Writes TRUE as 0xFF and FALSE as 0x00 (X.690 11.1).
    package mutating func boolean(_ value: Bool) {
        element(tag: 0x01, content: [value ? 0xFF : 0x00])
    }

    /// Writes an INTEGER in as few octets as possible.
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

    /// Writes an INTEGER with these content octets (two's complement, big-endian) unchanged, also if they are empty,
    /// negative or too long.
    package mutating func integer(content: some Collection<UInt8>) {
        element(tag: 0x02, content: content)
    }

    /// Writes an INTEGER with the unsigned big-endian number in `magnitude`.
    package mutating func integer(magnitude: some Collection<UInt8>) {
        var octets = Array(magnitude.drop { $0 == 0 })
        if octets.first.map({ $0 & 0x80 != 0 }) ?? true { octets.insert(0, at: 0) }
        integer(content: octets)
    }

    /// Writes a BIT STRING. `unusedBits` is the number of bits to ignore in the last octet.
    package mutating func bitString(_ content: some Collection<UInt8>, unusedBits: UInt8 = 0) {
        element(tag: 0x03, content: [unusedBits] + content)
    }

    package mutating func octetString(_ content: some Collection<UInt8>) {
        element(tag: 0x04, content: content)
    }

    /// Writes an OCTET STRING around the bytes that `body` writes, as extensions have it.
    package mutating func octetString(_ body: (inout DERWriter) -> Void) {
        element(tag: 0x04, body)
    }

    package mutating func null() {
        element(tag: 0x05, content: [])
    }

    package mutating func oid(_ identifier: DERWriter.OID) {
        element(tag: 0x06, content: identifier.contentOctets)
    }

    /// Writes a UTF8String, with control characters and bidirectional overrides unchanged.
    package mutating func utf8String(_ text: String) {
        element(tag: 0x0C, content: Array(text.utf8))
    }

    /// Writes a PrintableString without checking its alphabet.
    package mutating func printableString(_ text: String) {
        element(tag: 0x13, content: Array(text.utf8))
    }

    /// Writes an IA5String. Text outside ASCII becomes UTF-8, which IA5String does not allow.
    package mutating func ia5String(_ text: String) {
        element(tag: 0x16, content: Array(text.utf8))
    }

    /// Writes a UTCTime with this text, such as `270101000000Z`.
    package mutating func utcTime(_ text: String) {
        element(tag: 0x17, content: Array(text.utf8))
    }

    /// Writes a GeneralizedTime with this text, such as `20510101000000Z`.
    package mutating func generalizedTime(_ text: String) {
        element(tag: 0x18, content: Array(text.utf8))
    }
}

extension DERWriter {
    /// An object identifier as its arcs: `[2, 5, 4, 3]` is `2.5.4.3`.
    package struct OID: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
        package var arcs: [UInt64]

        package init(_ arcs: [UInt64]) {
            self.arcs = arcs
        }

        package init(arrayLiteral arcs: UInt64...) {
            self.arcs = arcs
        }

        package var description: String {
            arcs.map { String($0) }.joined(separator: ".")
        }

        /// The content octets of the OBJECT IDENTIFIER (X.690 8.19). They are empty for fewer than two arcs, which
        /// makes an element that readers refuse.
        var contentOctets: [UInt8] {
            guard arcs.count >= 2 else { return [] }
            var octets: [UInt8] = []
            for arc in [arcs[0] &* 40 &+ arcs[1]] + arcs.dropFirst(2) {
                var groups: [UInt8] = [UInt8(truncatingIfNeeded: arc & 0x7F)]
                var rest = arc >> 7
                while rest > 0 {
                    groups.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F))
                    rest >>= 7
                }
                octets.append(contentsOf: groups.reversed())
            }
            return octets
        }
    }
}

/// Attributes of names (RFC 5280 appendix A.1).
extension DERWriter.OID {
    package static let commonName: Self = [2, 5, 4, 3]
    package static let countryName: Self = [2, 5, 4, 6]
    package static let organizationName: Self = [2, 5, 4, 10]
    package static let organizationalUnitName: Self = [2, 5, 4, 11]
}

/// Extensions (RFC 5280 section 4.2).
extension DERWriter.OID {
    package static let subjectKeyIdentifier: Self = [2, 5, 29, 14]
    package static let keyUsage: Self = [2, 5, 29, 15]
    package static let subjectAltName: Self = [2, 5, 29, 17]
    package static let basicConstraints: Self = [2, 5, 29, 19]
    package static let nameConstraints: Self = [2, 5, 29, 30]
    package static let certificatePolicies: Self = [2, 5, 29, 32]
    package static let policyMappings: Self = [2, 5, 29, 33]
    package static let authorityKeyIdentifier: Self = [2, 5, 29, 35]
    package static let policyConstraints: Self = [2, 5, 29, 36]
    package static let extendedKeyUsage: Self = [2, 5, 29, 37]
    package static let inhibitAnyPolicy: Self = [2, 5, 29, 54]
    package static let authorityInfoAccess: Self = [1, 3, 6, 1, 5, 5, 7, 1, 1]
}

/// Purposes (RFC 5280 section 4.2.1.12) and access methods (section 4.2.2.1).
extension DERWriter.OID {
    package static let serverAuth: Self = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    package static let clientAuth: Self = [1, 3, 6, 1, 5, 5, 7, 3, 2]
    package static let codeSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 3]
    package static let ocspSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 9]
    package static let anyExtendedKeyUsage: Self = [2, 5, 29, 37, 0]
    package static let ocspAccess: Self = [1, 3, 6, 1, 5, 5, 7, 48, 1]
    package static let caIssuersAccess: Self = [1, 3, 6, 1, 5, 5, 7, 48, 2]
}
