internal import Pintle

/// DER that is written, not read.
enum DERText {
    static func sequence(_ content: [UInt8]) -> [UInt8] { element(DERTag.sequence, content) }

    /// Returns a BIT STRING of whole bytes.
    static func bitString(_ content: [UInt8]) -> [UInt8] { element(DERTag.bitString, [0x00] + content) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let octets = (0..<4).reversed().map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(octets.count)] + octets + content
    }
}
