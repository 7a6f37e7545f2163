import Testing

@testable import PintleURLSession

@Suite("Lines of a response's head")
struct HeadLineTests {
    @Test(
        "The parser tells status lines, fields and the end apart",
        arguments: [
            ("HTTP/1.1 200 OK\r\n", HeadLine.status(version: "HTTP/1.1", code: 200)),
            ("HTTP/2 404 \r\n", .status(version: "HTTP/2", code: 404)),
            ("HTTP/1.1 999", .status(version: "HTTP/1.1", code: 999)), ("a: b\r\n", .field(name: "a", value: "b")),
            ("A-b:\t c d \r\n", .field(name: "A-b", value: "c d")), ("a:\r\n", .field(name: "a", value: "")),
            ("a: b:c\n", .field(name: "a", value: "b:c")), (" a: b\r\n", .continuation(value: "a: b")),
            ("\ta\0b \r\n", .continuation(value: "a b")), (" \r\n", .continuation(value: "")), ("\r\n", .end),
            ("\n", .end),
        ])
    func good(text: String, line: HeadLine) {
        #expect(Array(text.utf8).withUnsafeBytes { HeadLine($0) } == line)
    }

    @Test(
        "The parser skips lines of any other kind",
        arguments: [
            "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 099 OK",
            "a\r\n", ": b\r\n", "a : b\r\n", "\u{E4}: b\r\n", "a\0: b\r\n",
        ])
    func bad(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { HeadLine($0) } == nil)
    }

    @Test("A value that is no UTF-8 is read as Latin-1, without a loss")
    func latin1() {
        for (bytes, text, isLatin1) in [
            ([0xE9], "\u{E9}", true), ([0xC3, 0xA9], "\u{E9}", false),
            ([0xC3, 0xA9, 0x80], "\u{C3}\u{A9}\u{80}", true),
            ([0x61], "a", false), ([0xED, 0xA0, 0x80], "\u{ED}\u{A0}\u{80}", true), ([], "", false),
        ] as [([UInt8], String, Bool)] {
            let line = Array("a: ".utf8) + bytes + [0x0D, 0x0A]
            guard case .field(_, let value) = line.withUnsafeBytes({ HeadLine($0) }) else {
                Issue.record("\(text) is no field")
                continue
            }
            #expect(value.text == text && value.isLatin1 == isLatin1)
            if isLatin1 { #expect(value.text.latin1Bytes == bytes) }
        }
    }

    @Test("A folded line in another encoding makes the whole value Latin-1")
    func mixed() {
        let (utf8, latin1, plain) = (FieldValue([0xC3, 0xA9]), FieldValue([0xE9]), FieldValue("a"))
        for (first, second, bytes) in [
            (utf8, latin1, [0xC3, 0xA9, 0x20, 0xE9]), (latin1, utf8, [0xE9, 0x20, 0xC3, 0xA9]),
            (plain, latin1, [0x61, 0x20, 0xE9]), (latin1, latin1, [0xE9, 0x20, 0xE9]), ("", latin1, [0xE9]),
        ] as [(FieldValue, FieldValue, [UInt8])] {
            var value = first
            value.append(second)
            #expect(value.isLatin1 && value.text.latin1Bytes == bytes)
        }
        var value = utf8
        value.append(plain)
        #expect(value == "\u{E9} a")
    }

    @Test(
        "A line break inside a value becomes a blank",
        arguments: ["a: b\rc: d\r\n", "a: b\0c: d\r\n", "a: b\nc: d\r\n"])
    func lineBreaks(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { HeadLine($0) } == .field(name: "a", value: "b c: d"))
    }
}
