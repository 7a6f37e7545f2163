extension CertificateTemplate {
    /// What a key may be used for (RFC 5280 section 4.2.1.3). Bit n of the raw value is bit n of the
    /// BIT STRING.
    public struct KeyUsage: OptionSet, Sendable, Hashable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        public static let contentCommitment = KeyUsage(rawValue: 1 << 1)
        public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
        public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
        public static let keyCertSign = KeyUsage(rawValue: 1 << 5)
        public static let cRLSign = KeyUsage(rawValue: 1 << 6)
        public static let encipherOnly = KeyUsage(rawValue: 1 << 7)
        public static let decipherOnly = KeyUsage(rawValue: 1 << 8)

        /// DER drops the trailing zero bits of a named bit list (X.690 11.2.2).
        func write(to der: inout DERWriter) {
            guard rawValue != 0 else { return der.bitString([]) }
            let used = UInt16.bitWidth - rawValue.leadingZeroBitCount
            var octets = [UInt8](repeating: 0, count: (used + 7) / 8)
            for bit in 0..<used where rawValue & (1 << UInt16(bit)) != 0 {
                octets[bit / 8] |= 0x80 >> UInt8(bit % 8)
            }
            der.bitString(octets, unusedBits: UInt8(octets.count * 8 - used))
        }
    }
}
