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

    @Test("Decoding four characters at a time gives the same result as one at a time, with any odd character anywhere")
    func groups() {
        func result(_ body: () throws(Base64.DecodingError) -> [UInt8]) -> Result<[UInt8], Base64.DecodingError> {
            do throws(Base64.DecodingError) { return .success(try body()) } catch { return .failure(error) }
        }
        let plain = Array("QUJDREVGR0hJa2xtbm9wcXJzdHV2".utf8)
        for alphabet in [Base64.Alphabet.standard, .urlSafe, .either] {
            for odd in Array("+/-_=* A".utf8) + [0x00, 0x80, 0xFF] {
                for first in plain.indices {
                    for second in [first, min(first + 1, plain.count - 1), plain.count - 1] {
                        var text = plain
                        (text[first], text[second]) = (odd, second == first ? odd : UInt8(ascii: "+"))
                        for text in [text, Array(text.dropLast(first % 4))] {
                            let expected = result { () throws(Base64.DecodingError) in
                                var decoder = Base64Decoder(alphabet: alphabet, capacity: 0)
                                for (offset, character) in text.enumerated() { try decoder.feed(character, at: offset) }
                                return try decoder.finish(padding: .optional, at: text.count)
                            }
                            let found = result { () throws(Base64.DecodingError) in
                                try Base64.decode(text, alphabet: alphabet)
                            }
                            #expect(found == expected, "\(String(decoding: text, as: UTF8.self))")
                        }
                    }
                }
            }
        }
    }

    @Test("Decoding eight digits at once equals decoding them one by one, and fails on anything but eight digits")
    func octets() throws {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<8 {
                var text = Array("Az09+/bY".utf8)
                text[place] = byte
                let word = text.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                let octet = Base64Octet(word)
                let bytes = try? Base64.decode(text, alphabet: .standard, padding: .required)
                // The decoder handles padding, so a group of eight digits never holds it.
                #expect((octet == nil) == (bytes?.count != 6), "\(byte) at \(place)")
                guard let octet else { continue }
                let found = (0..<6).map { UInt8(truncatingIfNeeded: octet.bits >> UInt64(40 - 8 * $0)) }
                #expect(found == bytes)
                #expect(octet.hasStandardDigits == text.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") })
            }
        }
    }

    @Test("A text decodes behind a head, from a slice, with the number of bytes that its length tells")
    func headAndSlice() throws {
        let head = Array("head".utf8)
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ length) }
            for alphabet in [Base64.Alphabet.standard, .urlSafe] {
                for padded in [true, false] {
                    let text = Array(Base64.encode(bytes, alphabet: alphabet, padded: padded).utf8)
                    let slice = (Array("{\"".utf8) + text + Array("\"}".utf8))[2..<2 + text.count]
                    #expect(try Base64.decode(slice, after: head) == head + bytes)
                    #expect(Base64.decodedCount(of: slice) == length)
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
                try Base64.decode((Array("12345".utf8) + wrong)[5...], after: [1, 2, 3])
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
