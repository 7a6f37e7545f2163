extension DERWriter {
    /// TRUE as 0xFF, FALSE as 0x00 (X.690 11.1).
    public mutating func boolean(_ value: Bool) {
        element(tag: 0x01, content: [value ? 0xFF : 0x00])
    }

    /// An INTEGER in as few octets as it needs.
    public mutating func integer(_ value: Int) {
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
    public mutating func integer(content: some Collection<UInt8>) {
        element(tag: 0x02, content: content)
    }

    /// An INTEGER that is the unsigned big-endian number in `magnitude`.
    public mutating func integer(magnitude: some Collection<UInt8>) {
        var octets = Array(magnitude.drop { $0 == 0 })
        if octets.first.map({ $0 & 0x80 != 0 }) ?? true { octets.insert(0, at: 0) }
        integer(content: octets)
    }

    /// A BIT STRING; `unusedBits` counts the bits to ignore in the last octet.
    public mutating func bitString(_ content: some Collection<UInt8>, unusedBits: UInt8 = 0) {
        element(tag: 0x03, content: [unusedBits] + content)
    }

    public mutating func octetString(_ content: some Collection<UInt8>) {
        element(tag: 0x04, content: content)
    }

    /// An OCTET STRING around what `body` writes, as extensions are.
    public mutating func octetString(_ body: (inout DERWriter) -> Void) {
        element(tag: 0x04, body)
    }

    public mutating func null() {
        element(tag: 0x05, content: [])
    }

    public mutating func oid(_ identifier: DERWriter.OID) {
        element(tag: 0x06, content: identifier.contentOctets)
    }

    /// A UTF8String. Control characters and bidirectional overrides pass as they are.
    public mutating func utf8String(_ text: String) {
        element(tag: 0x0C, content: Array(text.utf8))
    }

    /// A PrintableString, whose alphabet is not checked.
    public mutating func printableString(_ text: String) {
        element(tag: 0x13, content: Array(text.utf8))
    }

    /// An IA5String; text outside ASCII is written as UTF-8, which IA5String does not allow.
    public mutating func ia5String(_ text: String) {
        element(tag: 0x16, content: Array(text.utf8))
    }

    /// A UTCTime with this text, such as `270101000000Z`.
    public mutating func utcTime(_ text: String) {
        element(tag: 0x17, content: Array(text.utf8))
    }

    /// A GeneralizedTime with this text, such as `20510101000000Z`.
    public mutating func generalizedTime(_ text: String) {
        element(tag: 0x18, content: Array(text.utf8))
    }
}
