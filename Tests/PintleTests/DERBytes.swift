/// An encoder of valid and invalid DER for tests. The library itself only reads DER.
enum DERBytes {
    /// Returns the tag, the length in its shortest form, and the contents.
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.flatMap(\.self)
        return [tag] + length(content.count) + content
    }

    static func sequence(_ contents: [UInt8]...) -> [UInt8] { element(0x30, contents.flatMap(\.self)) }
    static func set(_ contents: [UInt8]...) -> [UInt8] { element(0x31, contents.flatMap(\.self)) }
    static func octetString(_ contents: [UInt8]...) -> [UInt8] { element(0x04, contents.flatMap(\.self)) }
    static func integer(_ content: UInt8...) -> [UInt8] { element(0x02, content) }
    static func bitString(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { element(0x03, [unused], content) }
    static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func utcTime(_ text: String) -> [UInt8] { element(0x17, Array(text.utf8)) }
    static func generalizedTime(_ text: String) -> [UInt8] { element(0x18, Array(text.utf8)) }
    static let null: [UInt8] = [0x05, 0x00]
    static let yes: [UInt8] = [0x01, 0x01, 0xFF]
    static let no: [UInt8] = [0x01, 0x01, 0x00]

    /// Returns an OBJECT IDENTIFIER. Arcs must be below 2^63, and the first two at most 2.39.
    static func oid(_ arcs: UInt64...) -> [UInt8] {
        var octets: [UInt8] = []
        for arc in [arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2) {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            octets += groups.reversed()
        }
        return element(0x06, octets)
    }

    private static func length(_ count: Int) -> [UInt8] {
        switch count {
        case ..<0x80: [UInt8(count)]
        case ..<0x100: [0x81, UInt8(count)]
        case ..<0x1_0000: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        default: [0x83, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
        }
    }
}
