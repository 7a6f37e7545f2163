import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("JSON documents")
struct JSONDocumentTests {
    private func read(_ text: String, _ limits: JSONDocument.Limits = .init()) throws(JSONError) -> JSONValue {
        try JSONDocument(Array(text.utf8), limits: limits).root
    }

    private func failure(of bytes: [UInt8], _ limits: JSONDocument.Limits = .init()) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONDocument(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func failure(of text: String, _ limits: JSONDocument.Limits = .init()) -> JSONError? {
        failure(of: Array(text.utf8), limits)
    }

    @Test(
        "The parser accepts everything that RFC 8259 allows",
        arguments: [
            "{}", "[]", "null", "true", "false", "0", "-0", "7", "\"\"", " [ ] ", "\t{\r\n}\n", "[1,2]", "[[],{}]",
            "{\"a\":{\"a\":1}}", "[\"\\u0041\\n\\/\\\\\\\"\"]", "\"\\ud83d\\ude00\"", "\"\u{7F}\u{80}\u{10FFFF}\"",
            "\"\\u0000\"", "9223372036854775807", "-9223372036854775808", "{\"\":0}", "{\"a\":0,\"A\":0}",
            "\"\u{FEFF}\"", "\"\u{2028}\"",
        ])
    func accepts(_ text: String) {
        #expect(failure(of: text) == nil)
    }

    @Test(
        "The parser refuses everything that RFC 8259 forbids, with a code and a column",
        arguments: [
            ("", .emptyDocument, 1), (" ", .emptyDocument, 2),
            ("[", .unexpectedEnd, 2), ("[1", .unexpectedEnd, 3), ("{\"a\"", .unexpectedEnd, 5),
            ("\"a", .unexpectedEnd, 1), ("\"\\", .invalidEscape, 2), ("[1,", .unexpectedEnd, 4),
            ("[1,]", .trailingComma, 3), ("{\"a\":1,}", .trailingComma, 7), ("[,1]", .unexpectedCharacter, 2),
            ("[1 2]", .unexpectedCharacter, 4), ("[1}", .unexpectedCharacter, 3), ("]", .unexpectedCharacter, 1),
            ("{1:2}", .unexpectedCharacter, 2), ("{a:2}", .unexpectedCharacter, 2),
            ("{'a':2}", .unexpectedCharacter, 2), ("{\"a\" 2}", .unexpectedCharacter, 6),
            ("{\"a\"=2}", .unexpectedCharacter, 5), ("{\"a\":}", .unexpectedCharacter, 6),
            ("nul", .unexpectedCharacter, 1), ("nullx", .unexpectedCharacter, 1), ("True", .unexpectedCharacter, 1),
            ("NaN", .unexpectedCharacter, 1), ("é", .unexpectedCharacter, 1), ("\u{0}", .unexpectedCharacter, 1),
            ("[\u{A0}1]", .unexpectedCharacter, 2), ("[1\u{B}]", .unexpectedCharacter, 3),
            ("{} {}", .trailingContent, 4), ("{}x", .trailingContent, 3), ("1\u{0}", .trailingContent, 2),
            ("// a\n{}", .comment, 1), ("[1, # a\n2]", .comment, 5), ("{} /* a */", .comment, 4),
            ("01", .malformedNumber, 1), ("-01", .malformedNumber, 1), ("-", .malformedNumber, 1),
            ("+1", .unexpectedCharacter, 1), (".5", .unexpectedCharacter, 1), ("1.", .malformedNumber, 1),
            ("1e", .malformedNumber, 1), ("1.5", .nonIntegerNumber, 1), ("1.0", .nonIntegerNumber, 1),
            ("[1e2]", .nonIntegerNumber, 2), ("0x10", .trailingContent, 2),
            ("9223372036854775808", .numberOutOfRange, 1), ("-9223372036854775809", .numberOutOfRange, 1),
            ("\"\t\"", .controlCharacter, 2), ("\"a\nb\"", .controlCharacter, 3), ("\"\u{0}\"", .controlCharacter, 2),
            ("\"\\x41\"", .invalidEscape, 2), ("\"\\u12G4\"", .invalidEscape, 2), ("\"\\u123\"", .invalidEscape, 2),
            ("\"\\ud800\"", .loneSurrogate, 2), ("\"\\udc00\"", .loneSurrogate, 2),
            ("\"\\ud800\\ud800\"", .loneSurrogate, 2), ("\"\\ud800x\"", .loneSurrogate, 2),
            ("\u{FEFF}{}", .byteOrderMark, 1),
        ] as [(String, JSONError.Code, Int)])
    func rejects(_ text: String, _ code: JSONError.Code, _ column: Int) {
        let error = failure(of: text)
        #expect(error?.code == code)
        #expect(error?.line == 1)
        #expect(error?.column == column)
    }

    @Test(
        "Bytes that are not UTF-8 are refused with their position",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func rejectsInvalidUTF8(_ sequence: [UInt8]) {
        let error = failure(of: Array("[\"é".utf8) + sequence + Array("\"]".utf8))
        #expect(error?.code == .invalidUTF8)
        #expect(error?.column == 4)
        // Also at the end of the file.
        #expect(failure(of: Array("\"".utf8) + sequence) != nil)
    }

    @Test("In a string, every character that needs a check is found at every position", arguments: 0..<20)
    func everyPlace(_ count: Int) throws {
        let head = [UInt8](repeating: UInt8(ascii: "a"), count: count)
        let tail = [UInt8](repeating: UInt8(ascii: "~"), count: 20 - count)
        func read(_ middle: [UInt8]) throws(JSONError) -> [UInt8]? {
            try JSONDocument([0x22] + head + middle + tail + [0x22]).root.stringBytes
        }
        for plain in [[0x20], [0x21], [0x23], [0x5B], [0x5D], [0x7F], [0xC3, 0xA9]] as [[UInt8]] {
            #expect(try read(plain) == head + plain + tail)
        }
        #expect(try read(Array("\\n".utf8)) == head + [0x0A] + tail)
        let errors: [(UInt8, JSONError.Code)] = [
            (0x00, .controlCharacter), (0x1F, .controlCharacter), (0x22, .trailingContent), (0x80, .invalidUTF8),
            (0xFF, .invalidUTF8),
        ]
        for (byte, code) in errors {
            do throws(JSONError) {
                _ = try read([byte])
                Issue.record("\(byte) was read")
            } catch {
                #expect(error.code == code && error.column <= count + 3)
            }
        }
    }

    @Test("A long string ends at its first quote, and nothing that needs a check in it is overlooked")
    func longStrings() throws {
        let plain = [UInt8](repeating: UInt8(ascii: "a"), count: 200)
        for place in plain.indices {
            for (byte, code) in [(0x1F, .controlCharacter), (0x80, .invalidUTF8)] as [(UInt8, JSONError.Code)] {
                var text = plain
                text[place] = byte
                let error = #expect(throws: JSONError.self) { try JSONDocument([0x22] + text + [0x22]) }
                #expect(error?.code == code && error?.offset == place + 1)
            }
            let array = try JSONDocument([0x5B, 0x22] + plain[..<place] + Array("\",\"".utf8) + plain + [0x22, 0x5D])
            #expect(array.root.elements?.map { $0.stringBytes?.count } == [place, plain.count])
        }
    }

    @Test("Indentation of any depth is skipped, and the byte after it is not", arguments: 0..<40)
    func indentation(_ depth: Int) throws {
        let blanks = "\n" + String(repeating: " ", count: depth)
        for more in ["", "\t", "\r\n  ", "\n\n \t "] {
            let list = try JSONDocument(Array("[\(blanks)\(more)1\(more)\(blanks),\(blanks)2\(blanks)]\(blanks)".utf8))
            #expect(list.root.elements?.map(\.integer) == [1, 2])
            let error = #expect(throws: JSONError.self) { try JSONDocument(Array("[1\(blanks)!\(blanks)]".utf8)) }
            #expect(error?.offset == 3 + depth)
        }
    }

    @Test("The lowest and the highest character of each UTF-8 length are accepted")
    func acceptsUTF8() throws {
        let text = "\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
        #expect(try read("\"\(text)\"").string == text)
    }

    @Test("An error about UTF-16 names it")
    func namesUTF16() {
        #expect(failure(of: [0xFF, 0xFE, 0x7B, 0x00])?.code == .byteOrderMark)
        #expect(failure(of: [0xFE, 0xFF, 0x00, 0x7B])?.message.contains("UTF-16") == true)
    }

    @Test("A duplicate key is refused in any spelling, but a key in another letter case is a different key")
    func duplicateKeys() throws {
        let error = try #require(failure(of: "{\"pins\": 1,\n \"\\u0070ins\": 2}"))
        #expect(error.code == .duplicateKey)
        #expect((error.line, error.column) == (2, 2))
        #expect(error.hint?.contains("1:2") == true)
        #expect(failure(of: "{\"pins\": 1,\n \"Pins\": 2}") == nil)
        #expect(failure(of: "[{\"a\":1},{\"a\":1}]") == nil)
    }

    @Test("Keys are compared scalar by scalar, so canonically equivalent keys are different")
    func keysAreNotNormalised() throws {
        let object = try read("{\"\u{E9}\": 1, \"e\u{301}\": 2}")
        #expect(object.count == 2)
        #expect(object["\u{E9}"]?.integer == 1)
        #expect(object["e\u{301}"]?.integer == 2)
    }

    @Test("A duplicate among many keys is found even at the end", arguments: [2, 8, 9, 10, 1000])
    func duplicateAmongMany(_ count: Int) {
        let members = (0..<count).map { "\"k\($0)\": 0" }
        #expect(failure(of: "{" + members.joined(separator: ",") + "}") == nil)
        let repeated = members + ["\"k\(count / 2)\": 0"]
        #expect(failure(of: "{" + repeated.joined(separator: ",") + "}")?.code == .duplicateKey)
    }

    @Test("An object with 200,000 keys parses in linear time")
    func manyKeys() {
        let members = (0..<200_000).map { "\"\\u006b\($0)\":0" }
        // The trait `timeLimit` requires iOS 16.
        let seconds = secondsTaken { #expect(failure(of: "{" + members.joined(separator: ",") + "}") == nil) }
        #expect(seconds < 60)
    }

    @Test("Depth 16 is accepted and depth 17 refused, at the first bracket that is too deep")
    func depth() {
        let brackets: (Int) -> String = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(failure(of: brackets(16)) == nil)
        let error = failure(of: brackets(17))
        #expect(error?.code == .tooDeep)
        #expect(error?.column == 17)
        #expect(failure(of: String(repeating: "[", count: 1_000_000))?.code == .tooDeep)
        #expect(failure(of: String(repeating: "{\"a\":", count: 17))?.code == .tooDeep)
        #expect(failure(of: brackets(1000), .init(maximumDepth: 1000))?.code == .tooDeep)
    }

    @Test("As many values as allowed are accepted, and one more is refused where it stands", arguments: [99, 100])
    func values(count: Int) {
        // The object and the list are values too; a key is none.
        let list = "{\"a\":[" + [String](repeating: "1", count: count - 2).joined(separator: ",") + "]}"
        #expect(failure(of: list, .init(maximumValues: 99))?.code == (count > 99 ? .tooLarge : nil))
    }

    @Test("A document of the maximum size is accepted, and one byte more is refused")
    func size() {
        #expect(failure(of: "[123]", .init(maximumBytes: 5)) == nil)
        #expect(failure(of: "[1234]", .init(maximumBytes: 5))?.code == .tooLarge)
    }

    @Test("If any number is allowed, numbers beyond Int64 are accepted but have no integer value")
    func anyNumber() throws {
        let limits = JSONDocument.Limits(allowsAnyNumber: true)
        let list = try read("[1.5, -2E+10, 9223372036854775808, 7]", limits)
        #expect(list.elements?.map(\.integer) == [nil, nil, nil, 7])
        #expect(list.elements?.map(\.kind) == [.number, .number, .number, .integer])
        #expect(failure(of: "[1.]", limits)?.code == .malformedNumber)
    }

    @Test("Lines and columns are those of an editor: CRLF is one line break, a tab and an emoji one column")
    func places() throws {
        let document = try JSONDocument(Array("{\r\n\t\"é😀\": [\r\n1,\n 2]}".utf8))
        let member = try #require(document.root.members?.first { _ in true })
        #expect(member.key.place == TextPlace(line: 2, column: 2))
        #expect(member.value.place == TextPlace(line: 2, column: 8))
        let offsets = member.value.elements?.map(\.offset) ?? []
        let places = [TextPlace(line: 3, column: 1), TextPlace(line: 4, column: 2)]
        #expect(document.places(at: offsets) == places)
        #expect(document.places(at: offsets.reversed()) == places.reversed())
        #expect(document.places(at: [.max]).first?.line == 4)
    }

    @Test("A value is readable only as its own type")
    func accessors() throws {
        let root = try read(
            "{\"s\": \"a\\u00e9\\ud83d\\ude00\\n\", \"i\": -12, \"t\": true, \"f\": false, \"n\": null}")
        #expect(root.members?.map { $0.key.string } == ["s", "i", "t", "f", "n"])
        #expect(root["s"]?.string == "aé😀\n")
        #expect(root["i"]?.integer == -12)
        #expect(root["t"]?.boolean == true)
        #expect(root["f"]?.boolean == false)
        #expect(root["n"]?.isNull == true)
        #expect(root["x"] == nil)
        #expect(root["i"]?.string == nil && root["s"]?.integer == nil && root["n"]?.boolean == nil)
        #expect(root.elements == nil && root["s"]?.members == nil && root.integer == nil)
        #expect(try read("-9223372036854775808").integer == .min)
        #expect(root["i"].map { String(decoding: $0.source, as: UTF8.self) } == "-12")
    }

    @Test("Every prefix of a document, and every single damaged byte, gives a document or an error")
    func damage() {
        let bytes = Array("{\"a\":[1,\"\\ud83d\\ude00é\",{\"b\":null,\"c\":-7}],\"d\":true}".utf8)
        for length in 0..<bytes.count { #expect(failure(of: Array(bytes.prefix(length))) != nil) }
        for index in bytes.indices {
            for byte in [0, 0x22, 0x5C, 0x7B, 0x5D, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] = byte
                if let root = try? JSONDocument(damaged).root {
                    for member in root.members ?? JSONMembers(tape: root.tape, container: 0) { _ = member.key.string }
                }
            }
        }
    }

    @Test("A tape entry takes 16 bytes")
    func nodeSize() {
        #expect(MemoryLayout<JSONTape.Node>.stride == 16)
    }
}
