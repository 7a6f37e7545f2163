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

    @Test(
        "A line break inside a value becomes a blank",
        arguments: ["a: b\rc: d\r\n", "a: b\0c: d\r\n", "a: b\nc: d\r\n"])
    func lineBreaks(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { HeadLine($0) } == .field(name: "a", value: "b c: d"))
    }
}
