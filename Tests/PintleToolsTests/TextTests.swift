import Testing

@testable import PintleConsole
@testable import PintleText

@Suite("Text on a terminal")
struct TextTests {
    @Test("Names are cut in the middle, and only if they are too long")
    func shortened() {
        #expect(TextLayout.shortened("CN=example", to: 10, ellipsis: "…") == "CN=example")
        #expect(TextLayout.shortened("CN=example.test", to: 10, ellipsis: "…") == "CN=ex…test")
        #expect(TextLayout.shortened("CN=example.test", to: 10, ellipsis: "...") == "CN=e...est")
    }

    @Test("A list ends with the number of items that do not fit")
    func list() {
        #expect(TextLayout.list(["a.test", "b.test"], width: 20) == "a.test, b.test")
        #expect(TextLayout.list(["a.test", "b.test", "c.test"], width: 18) == "a.test, + 2 more")
        #expect(TextLayout.list([], width: 10) == "")
        #expect(TextLayout.list(["longer-than-the-line"], width: 4) == "longer-than-the-line")
    }

    @Test("Wide letters take two columns, and a long character is cut at the last column")
    func wide() {
        let wide = String(repeating: "\u{6F22}", count: 20)
        #expect(TextLayout.columns(of: wide) == 40 && TextLayout.columns(of: "Z\u{FC}rich…") == 7)
        #expect(TextLayout.columns(of: "\u{FF21}\u{1F512}\u{AC00}") == 6)
        #expect(TextLayout.padded("\u{6F22}", to: 4) == "\u{6F22}  ")
        #expect(TextLayout.columns(of: TextLayout.shortened(wide, to: 20, ellipsis: "…")) <= 20)
        #expect(TextLayout.shortened(wide, to: 40, ellipsis: "…") == wide)
        #expect(
            TextLayout.wrapped("\u{6F22}\u{6F22} \u{6F22}\u{6F22} a", width: 9) == [
                "\u{6F22}\u{6F22} \u{6F22}\u{6F22}", "a",
            ])
        // Swift counts this as one character.
        let stacked = "\u{1112}" + String(repeating: "\u{1161}", count: 1_000)
        #expect(stacked.count == 1)
        #expect(TextLayout.shortened(stacked, to: 10, ellipsis: "…").unicodeScalars.count <= 10)
    }

    @Test("A list is one line, whatever its items contain")
    func boundedList() {
        let long = String(repeating: "x", count: 5_000)
        for items in [
            [long], [long, long], ["a.test", long], Array(repeating: "a.test", count: 10_000), ["\u{6F22}", long],
        ] {
            let line = TextLayout.list(items, width: 40, ellipsis: "…")
            #expect(TextLayout.columns(of: line) <= 40, "\(line)")
            #expect(line.contains("more") == (items.count > 1))
        }
        #expect(TextLayout.list([long, "b"], width: 40) == "\(long), + 1 more")
    }

    @Test("Wrapping never breaks a word")
    func wrapped() {
        let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
        #expect(TextLayout.wrapped("the pin \(pin) is", width: 20) == ["the pin", pin, "is"])
        #expect(TextLayout.wrapped("", width: 20) == [""])
    }

    @Test("Scalars that could control a terminal are escaped")
    func safeText() {
        #expect(SafeText.escape("a\u{1B}[2J\u{202E}b\n") == "a\\u{1B}[2J\\u{202E}b\\u{A}")
        #expect(SafeText.escape("Zürich") == "Zürich")
        #expect(SafeText.claim("\u{6F22}\u{1F512}\u{391}") == "\u{6F22}\u{1F512}\u{391}")
        // Right-to-left letters, and marks on the letter before them.
        #expect(SafeText.escape("\u{5D0}1/\u{627}") == "\u{5D0}1/\u{627}")
        #expect(SafeText.claim("a\u{1B}") == "a\\u{1B}")
        #expect(SafeText.claim("a\u{5D0}1\u{627}") == "a\\u{5D0}1\\u{627}")
        #expect(SafeText.claim("\u{1E900}\u{10A00}e\u{301}") == "\\u{1E900}\\u{10A00}e\\u{301}")
    }

    @Test(
        "The tool suggests the nearest word if it is near enough",
        arguments: [
            ("pni", "; did you mean pin?"), ("--polcy", "; did you mean --policy?"), ("chekc", "; did you mean check?"),
            ("xyz", ""), ("--connectto", "; did you mean --connect-to?"),
        ])
    func nearest(text: String, expected: String) {
        let words = ["pin", "check", "lint", "--policy", "--connect-to"]
        #expect(Spelling.suggestion(for: text, among: words) == expected)
    }

    @Test("Splitting into lines needs bounded memory", arguments: [1, 2, 3, 7, 65_536])
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
