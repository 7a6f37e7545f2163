internal import PintleCrypto

/// A base64 decoder that is fed character by character, with faster paths for whole groups.
struct Base64Decoder {
    private var alphabet: Base64.Alphabet
    private(set) var bytes: [UInt8] = []
    private var buffer: UInt32 = 0
    private var bits: UInt32 = 0
    private var paddingCount = 0
    private var lastDigitOffset = 0

    init(alphabet: Base64.Alphabet, capacity: Int) {
        self.alphabet = alphabet
        bytes.reserveCapacity(capacity)
    }

    /// Creates a decoder that has read the beginning of a text, eight characters at a time. It stops at the first eight
    /// that are not all digits of the standard alphabet, because of a mistake, a blank, padding, the other alphabet or
    /// the end.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - alphabet: the alphabet.
    ///   - head: bytes to put before the decoded ones.
    /// - Returns: the decoder and the offset at which it stopped.
    static func reading(
        _ text: ArraySlice<UInt8>, alphabet: Base64.Alphabet, after head: [UInt8] = []
    ) -> (decoder: Base64Decoder, offset: Int) {
        var decoder = Base64Decoder(alphabet: alphabet, capacity: 0)
        decoder.bytes = head
        guard alphabet != .urlSafe else { return (decoder, text.startIndex) }
        var marks: UInt32 = 0
        // Each step writes eight bytes and keeps six. The characters after the last step make at most six more.
        decoder.bytes = [UInt8](unsafeUninitializedCapacity: head.count + text.count / 8 * 6 + 6) { bytes, count in
            let target = UnsafeMutableRawBufferPointer(bytes)
            target.copyBytes(from: head)
            count = head.count
            text.withUnsafeBytes { source in
                shiftedDigits.withUnsafeBufferPointer { digits in
                    var offset = 0
                    while offset &+ 8 <= source.count {
                        let word = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                        let groups = (group(word, digits), group(word >> 32, digits))
                        guard (groups.0 | groups.1) & noDigit == 0 else { break }
                        marks |= groups.0 | groups.1
                        let bits = UInt64(groups.0 & 0xFF_FFFF) << 24 | UInt64(groups.1 & 0xFF_FFFF)
                        target.storeBytes(of: (bits << 16).bigEndian, toByteOffset: count, as: UInt64.self)
                        offset &+= 8
                        count &+= 6
                    }
                }
            }
        }
        if marks & standardDigit != 0, alphabet == .either {
            decoder.alphabet = .standard
            decoder.isSettled = true
        }
        return (decoder, text.startIndex + (decoder.bytes.count - head.count) / 6 * 8)
    }

    /// Returns the 24 bits of four characters, the first in the lowest byte, together with the marks of all of them.
    @inline(__always)
    private static func group(_ characters: UInt64, _ digits: UnsafeBufferPointer<UInt32>) -> UInt32 {
        // The table has 256 elements for each of the four places, so every index is within it.
        digits[Int(truncatingIfNeeded: characters & 0xFF)]
            | digits[Int(truncatingIfNeeded: 256 &+ (characters >> 8 & 0xFF))]
            | digits[Int(truncatingIfNeeded: 512 &+ (characters >> 16 & 0xFF))]
            | digits[Int(truncatingIfNeeded: 768 &+ (characters >> 24 & 0xFF))]
    }

    private static let noDigit: UInt32 = 1 << 31
    private static let standardDigit: UInt32 = 1 << 30

    /// The values of ``digits``, shifted to each of the four places in a group of 24 bits. A character that is not a
    /// digit of the standard alphabet has the mark `noDigit`; `+` and `/` have the mark `standardDigit`.
    private static let shiftedDigits: [UInt32] = (0..<4).flatMap { place in
        digits.map { digit in
            if digit & isURLSafe != 0 { return noDigit }
            let mark = digit & isStandard == 0 ? 0 : standardDigit
            return mark | UInt32(digit & 63) << UInt32(18 - 6 * place)
        }
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

    /// Feeds groups of four digits, which make three bytes each. It stops at the first group that holds anything else:
    /// a mistake, a blank, padding, or a digit of the other alphabet.
    ///
    /// - Returns: the offset at which it stopped.
    mutating func feedGroups(of text: ArraySlice<UInt8>, from start: Int) -> Int {
        guard bits == 0, paddingCount == 0, text.endIndex - start >= 4 else { return start }
        let digits = Self.digits
        var allowed: UInt8 =
            switch alphabet {
            case .standard: Self.isStandard
            case .urlSafe: Self.isURLSafe
            case .either: Self.isStandard | Self.isURLSafe
            }
        var offset = start
        while offset + 4 <= text.endIndex {
            let first = digits[Int(text[offset])]
            let second = digits[Int(text[offset + 1])]
            let third = digits[Int(text[offset + 2])]
            let fourth = digits[Int(text[offset + 3])]
            let marks = (first | second | third | fourth) & Self.marks
            if marks != 0 {
                // If both marks are set, the group has an invalid character or mixes the alphabets.
                guard marks != Self.marks, marks & allowed != 0 else { break }
                if allowed == Self.marks {
                    allowed = marks
                    alphabet = marks == Self.isStandard ? .standard : .urlSafe
                    isSettled = true
                }
            }
            let group =
                UInt32(first & 63) << 18 | UInt32(second & 63) << 12 | UInt32(third & 63) << 6 | UInt32(fourth & 63)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            offset += 4
        }
        return offset
    }

    private static let isStandard: UInt8 = 0x40
    private static let isURLSafe: UInt8 = 0x80
    private static let marks = isStandard | isURLSafe

    /// The value of each character. A digit of only one alphabet also has that alphabet's mark; a character that is not
    /// a digit has both marks.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 0xFF, count: 256)
        let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        for (value, character) in common.enumerated() { digits[Int(character)] = UInt8(value) }
        for (characters, mark) in [("+/", isStandard), ("-_", isURLSafe)] {
            for (value, character) in zip([UInt8(62), 63], characters.utf8) { digits[Int(character)] = value | mark }
        }
        return digits
    }()

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
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "/"):
            try settle(on: .standard, character, at: offset)
            return character == UInt8(ascii: "+") ? 62 : 63
        case UInt8(ascii: "-"), UInt8(ascii: "_"):
            try settle(on: .urlSafe, character, at: offset)
            return character == UInt8(ascii: "-") ? 62 : 63
        default:
            throw .init(reason: .invalidCharacter(character), offset: offset)
        }
    }

    private var isSettled = false

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

/// Eight digits of base64's standard alphabet, decoded at once. Policies have many pins, which this decodes without a
/// table and without memory on the heap.
struct Base64Octet {
    /// The decoded 48 bits, with the first digit in the highest bits.
    let bits: UInt64
    /// A Boolean value that indicates whether `+` or `/` occurs, which the URL-safe alphabet does not have.
    let hasStandardDigits: Bool

    /// Decodes a word of eight characters, or returns `nil` unless each is a digit.
    ///
    /// - Parameter word: the characters, the first in the lowest byte.
    @inline(__always)
    init?(_ word: UInt64) {
        let highs: UInt64 = 0x8080_8080_8080_8080
        // Sets the high bit of each byte whose character is at or after this one. ASCII values cause no carry between
        // bytes.
        func from(_ character: UInt8) -> UInt64 { word &+ 0x0101_0101_0101_0101 &* UInt64(0x80 &- character) }
        // A byte at or after the end of a range is also at or after its start, so exclusive-or leaves only the bytes in
        // the range.
        let digit = (from(0x30) ^ from(0x3A)) & highs
        let upper = (from(0x41) ^ from(0x5B)) & highs
        let lower = (from(0x61) ^ from(0x7B)) & highs
        guard word & highs == 0 else { return nil }
        // Each byte of the result is between 0 and 63, so no byte borrows from the next.
        var values = word &+ (digit >> 7) &* 4 &- (upper >> 7) &* 65 &- (lower >> 7) &* 71
        hasStandardDigits = digit | upper | lower != highs
        if hasStandardDigits {
            let plus = (from(0x2B) ^ from(0x2C)) & highs
            let slash = (from(0x2F) ^ from(0x30)) & highs
            guard plus | slash | digit | upper | lower == highs else { return nil }
            values = values &+ (plus >> 7) &* 19 &+ (slash >> 7) &* 16
        }
        // Join neighbouring values: 6 bits in each 8, 12 in each 16, 24 in each 32, 48 in 64.
        let sixes = values.byteSwapped
        let twelves = (sixes & 0x003F_003F_003F_003F) | (sixes & 0x3F00_3F00_3F00_3F00) >> 2
        let twentyFours = (twelves & 0x0000_0FFF_0000_0FFF) | (twelves & 0x0FFF_0000_0FFF_0000) >> 4
        bits = (twentyFours & 0xFF_FFFF) | (twentyFours & 0x00FF_FFFF_0000_0000) >> 8
    }
}

extension SHA256Digest {
    /// Decodes the digest at `offset`: 43 digits of the standard alphabet and a `=`. Returns `nil` for anything else,
    /// including other spellings of a digest.
    init?(base64 text: RawSpan, at offset: Int) {
        guard offset >= 0, text.byteCount - offset >= 44 else { return nil }
        // The last eight characters overlap the ones before. `A` replaces the padding, because its bits are zero.
        let end = text.word(at: offset + 36)
        let digits = end & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: "A")) << 56
        guard end >> 56 == UInt64(UInt8(ascii: "=")),
            let first = Base64Octet(text.word(at: offset)), let second = Base64Octet(text.word(at: offset + 8)),
            let third = Base64Octet(text.word(at: offset + 16)), let fourth = Base64Octet(text.word(at: offset + 24)),
            let fifth = Base64Octet(text.word(at: offset + 32)), let last = Base64Octet(digits),
            // Three digits hold 18 bits, of which two bytes take 16. The other two are zero in the canonical spelling.
            last.bits >> 6 & 0b11 == 0
        else { return nil }
        self.init(
            bigEndian: first.bits << 16 | second.bits >> 32, second.bits << 32 | third.bits >> 16,
            third.bits << 48 | fourth.bits, fifth.bits << 16 | last.bits >> 8 & 0xFFFF)
    }
}
