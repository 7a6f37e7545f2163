/// The only base64 decoder. It is fed character by character, so that a PEM block can be decoded line by line.
struct Base64Decoder {
    private var alphabet: Base64.Alphabet
    /// A Boolean value that indicates whether a character of the text, not the caller, determined the alphabet.
    private var isSettled = false
    private(set) var bytes: [UInt8] = []
    private var buffer: UInt32 = 0
    private var bits: UInt32 = 0
    private var paddingCount = 0
    private var lastDigitOffset = 0

    /// Creates a decoder that reserves memory for this number of bytes.
    init(alphabet: Base64.Alphabet, capacity: Int) {
        self.alphabet = alphabet
        bytes.reserveCapacity(capacity)
    }

    mutating func feed(_ character: UInt8, at offset: Int) throws(Base64.DecodingError) {
        if character == UInt8(ascii: "=") {
            paddingCount += 1
            return
        }
        let digit = try value(of: character, at: offset)
        guard paddingCount == 0 else { throw .init(reason: .wrongPadding, offset: offset) }
        lastDigitOffset = offset
        buffer = buffer << 6 | UInt32(digit)
        bits += 6
        if bits >= 8 {
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        }
    }

    func finish(padding: Base64.Padding, at end: Int) throws(Base64.DecodingError) -> [UInt8] {
        // 6 bits left: a single character, which makes no byte. 4 bits: two characters for one byte. 2 bits: three for
        // two bytes.
        guard bits != 6 else { throw .init(reason: .truncated, offset: end) }
        let required = Int(bits / 2)
        let isPadded = paddingCount == required
        guard isPadded || padding == .optional && paddingCount == 0 else {
            throw .init(reason: .wrongPadding, offset: end)
        }
        guard buffer & (1 << bits - 1) == 0 else {
            throw .init(reason: .trailingBits(bytes: bytes), offset: lastDigitOffset)
        }
        return bytes
    }

    private mutating func value(of character: UInt8, at offset: Int) throws(Base64.DecodingError) -> UInt8 {
        let digit = Self.digits[Int(character)]
        guard digit < 64 else { throw .init(reason: .invalidCharacter(character), offset: offset) }
        if digit >= 62 {
            let isStandard = character == UInt8(ascii: "+") || character == UInt8(ascii: "/")
            try settle(on: isStandard ? .standard : .urlSafe, character, at: offset)
        }
        return digit
    }

    /// The value of each character in either alphabet. A character that is not a digit has 0xFF.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 0xFF, count: 256)
        let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        for alphabet in [common + "+/", common + "-_"] {
            for (value, character) in alphabet.utf8.enumerated() { digits[Int(character)] = UInt8(value) }
        }
        return digits
    }()

    private mutating func settle(
        on wanted: Base64.Alphabet, _ character: UInt8, at offset: Int
    ) throws(Base64.DecodingError) {
        switch alphabet {
        case .either:
            alphabet = wanted
            isSettled = true
        case wanted:
            break
        default:
            throw .init(reason: isSettled ? .mixedAlphabets : .invalidCharacter(character), offset: offset)
        }
    }
}
