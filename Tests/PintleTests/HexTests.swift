import Testing

@testable import Pintle

@Suite("Hexadecimal")
struct HexTests {
    @Test("Upper and lower case digits have the same value")
    func cases() throws {
        #expect(try Hex.decode("a22aF0") == [0xA2, 0x2A, 0xF0])
        #expect(Hex.encode([0xA2, 0x2A, 0x0F]) == "a22a0f")
        #expect(Hex.encode([0xA2, 0x2A, 0x0F], upperCase: true, separator: ":") == "A2:2A:0F")
        #expect(try Hex.decode("") == [])
    }

    @Test(
        "Separators are accepted only between bytes and on request",
        arguments: ["A2:2A:F0", "a2 2a f0", "a22a f0", "a2:2a:\n  f0"])
    func separators(_ text: String) throws {
        #expect(try Hex.decode(text, allowingSeparators: true) == [0xA2, 0x2A, 0xF0])
        #expect(throws: Hex.DecodingError.self) { try Hex.decode(text) }
    }

    @Test(
        "Separators elsewhere, an odd number of digits, and letters are errors with their offset",
        arguments: [
            ("a:22a", .invalidCharacter, 1), (":a22a", .invalidCharacter, 0), ("a2::2a", .invalidCharacter, 3),
            ("a22a:", .invalidCharacter, 4), ("a22a ", .invalidCharacter, 4), ("a22", .oddDigitCount, 3),
            ("0xa2", .invalidCharacter, 1), ("a2-2a", .invalidCharacter, 2), ("g0", .invalidCharacter, 0),
            ("١٢", .invalidCharacter, 0),
        ] as [(String, Hex.DecodingError.Reason, Int)])
    func rejects(_ text: String, _ reason: Hex.DecodingError.Reason, _ offset: Int) {
        #expect(throws: Hex.DecodingError(reason: reason, offset: offset)) {
            try Hex.decode(text, allowingSeparators: true)
        }
    }
}
