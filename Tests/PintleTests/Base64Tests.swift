import Testing

@testable import Pintle

@Suite("Base64")
struct Base64Tests {
    private func reason(_ text: String, _ alphabet: Base64.Alphabet = .either, _ padding: Base64.Padding = .optional)
        -> Base64.DecodingError.Reason?
    {
        do throws(Base64.DecodingError) {
            _ = try Base64.decode(text, alphabet: alphabet, padding: padding)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "The vectors of RFC 4648 section 10 decode and encode, with and without padding",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(_ plain: String, _ text: String) throws {
        #expect(Base64.encode(plain.utf8) == text)
        #expect(try Base64.decode(text) == Array(plain.utf8))
        let unpadded = text.filter { $0 != "=" }
        #expect(Base64.encode(plain.utf8, padded: false) == unpadded)
        #expect(try Base64.decode(unpadded) == Array(plain.utf8))
    }

    @Test("The decoder accepts both alphabets, but not mixed")
    func alphabets() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encode(bytes) == "++//")
        #expect(Base64.encode(bytes, alphabet: .urlSafe) == "--__")
        #expect(try Base64.decode("++//") == bytes)
        #expect(try Base64.decode("--__") == bytes)
        #expect(reason("+-//") == .mixedAlphabets)
        #expect(reason("--__", .standard) == .invalidCharacter(UInt8(ascii: "-")))
        #expect(reason("++//", .urlSafe) == .invalidCharacter(UInt8(ascii: "+")))
    }

    @Test("A slice decodes like a text of its own")
    func slice() throws {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ length) }
            for alphabet in [Base64.Alphabet.standard, .urlSafe] {
                for padded in [true, false] {
                    let text = Array(Base64.encode(bytes, alphabet: alphabet, padded: padded).utf8)
                    let slice = (Array("{\"".utf8) + text + Array("\"}".utf8))[2..<2 + text.count]
                    #expect(try Base64.decode(slice) == bytes)
                }
            }
        }
    }

    @Test("The offset of a mistake counts from the start of the slice")
    func sliceOffset() {
        let text = Array("QUJDREVGR0hJa2xtbm9wcXJzdHV2".utf8)
        for place in text.indices {
            var wrong = text
            wrong[place] = UInt8(ascii: "*")
            let error = #expect(throws: Base64.DecodingError.self) {
                try Base64.decode((Array("12345".utf8) + wrong)[5...])
            }
            #expect(error == .init(reason: .invalidCharacter(UInt8(ascii: "*")), offset: place))
        }
    }

    @Test("Trailing bits are an error that carries the bytes of the correct spelling")
    func trailingBits() throws {
        #expect(try Base64.decode("Zg==") == [0x66])
        #expect(reason("Zh==") == .trailingBits(bytes: [0x66]))
        #expect(reason("Zm9=") == .trailingBits(bytes: [0x66, 0x6F]))
        guard case .trailingBits(let bytes)? = reason("Zm9") else { return }
        #expect(Base64.encode(bytes) == "Zm8=")
    }

    @Test(
        "Padding is complete or absent, and only at the end",
        arguments: ["Zg=", "Zg===", "Zm8==", "Zm9v=", "Zg=a", "=", "Z=g="])
    func padding(_ text: String) {
        #expect(reason(text) == .wrongPadding)
    }

    @Test("If padding is required, missing padding is an error")
    func requiredPadding() {
        #expect(reason("Zm8", .standard, .required) == .wrongPadding)
        #expect(reason("Zm8=", .standard, .required) == nil)
    }

    @Test("A left-over character, a foreign one and a blank are errors; blanks can be skipped on request")
    func other() throws {
        #expect(reason("Zm9vY") == .truncated)
        #expect(reason("A===") == .truncated)
        #expect(reason("Zm9v\n") == .invalidCharacter(0x0A))
        #expect(reason("Zm 9v") == .invalidCharacter(0x20))
        #expect(reason("Zm9é") == .invalidCharacter(0xC3))
        #expect(try Base64.decode(Array("Zm\r\n 9v\n".utf8), skippingBlanks: true) == Array("foo".utf8))
    }

    @Test("Every byte in every position survives a round trip")
    func roundTrip() throws {
        for length in 0..<48 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ length) }
            #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(try Base64.decode(Base64.encode(bytes, alphabet: .urlSafe, padded: false)) == bytes)
        }
    }
}
