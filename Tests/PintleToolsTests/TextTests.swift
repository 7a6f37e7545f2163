import Testing

@testable import PintleTools

@Suite("Text on a terminal")
struct TextTests {
    @Test("Names are cut in the middle, and only where they are too long")
    func shortened() {
        #expect(TextLayout.shortened("CN=example", to: 10, ellipsis: "…") == "CN=example")
        #expect(TextLayout.shortened("CN=example.test", to: 10, ellipsis: "…") == "CN=ex…test")
        #expect(TextLayout.shortened("CN=example.test", to: 10, ellipsis: "...") == "CN=e...est")
    }

    @Test("A list says how much of it is missing")
    func list() {
        #expect(TextLayout.list(["a.test", "b.test"], width: 20) == "a.test, b.test")
        #expect(TextLayout.list(["a.test", "b.test", "c.test"], width: 18) == "a.test, + 2 more")
        #expect(TextLayout.list([], width: 10) == "")
        #expect(TextLayout.list(["longer-than-the-line"], width: 4) == "longer-than-the-line")
    }

    @Test("Words are never broken")
    func wrapped() {
        let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
        #expect(TextLayout.wrapped("the pin \(pin) is", width: 20) == ["the pin", pin, "is"])
        #expect(TextLayout.wrapped("", width: 20) == [""])
    }

    @Test("What could act on a terminal is written out")
    func safeText() {
        #expect(SafeText.escape("a\u{1B}[2J\u{202E}b\n") == "a\\u{1B}[2J\\u{202E}b\\u{A}")
        #expect(SafeText.escape("Zürich") == "Zürich")
    }

    @Test(
        "The nearest word is offered where it is near",
        arguments: [
            ("pni", "pin"), ("--polcy", "--policy"), ("chekc", "check"), ("xyz", nil), ("--connectto", "--connect-to"),
        ])
    func nearest(text: String, expected: String?) {
        #expect(Spelling.nearest(to: text, among: ["pin", "check", "lint", "--policy", "--connect-to"]) == expected)
    }

    @Test("Lines are split in bounded memory", arguments: [1, 2, 3, 7, 65_536])
    func lines(limit: Int) throws {
        let text = Array("a\n\nbcdefgh\n\r\nxyz".utf8)
        var reader = LineReader(ByteSource(text), limit: limit)
        var lines: [String] = []
        while let line = try reader.next() {
            switch line {
            case .text(let bytes): lines.append(String(decoding: bytes, as: UTF8.self))
            case .tooLong: lines.append("too long")
            }
        }
        let all = ["a", "", "bcdefgh", "\r", "xyz"]
        #expect(lines == all.map { $0.utf8.count > limit ? "too long" : $0 })
    }
}
