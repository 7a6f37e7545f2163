import Testing

@testable import Pintle

@Suite("The JSON writer")
struct JSONWriterTests {
    private func write(_ writer: inout JSONWriter) {
        writer.object {
            $0.member("host", "example.com")
            $0.member("detail", nil as String?)
            $0.member("port", 443)
            $0.member("live", true)
            $0.array("pins") {
                $0.value("a")
                $0.object { $0.member("b", 1) }
            }
            $0.array("none") { _ in }
            $0.object("empty") { _ in }
        }
    }

    @Test("Pretty form: two blanks a level, empty containers on their line, absent rather than null")
    func pretty() {
        var writer = JSONWriter(.pretty)
        write(&writer)
        #expect(
            writer.text == """
                {
                  "host": "example.com",
                  "port": 443,
                  "live": true,
                  "pins": [
                    "a",
                    {
                      "b": 1
                    }
                  ],
                  "none": [],
                  "empty": {}
                }
                """)
    }

    @Test("Compact form: one line, no blanks")
    func compact() {
        var writer = JSONWriter(.compact)
        write(&writer)
        #expect(
            writer.text == #"{"host":"example.com","port":443,"live":true,"pins":["a",{"b":1}],"none":[],"empty":{}}"#)
    }

    @Test("Quotes, controls and what rewrites a terminal are escaped; other text is written as it is")
    func escapes() {
        #expect(JSONWriter.quoted("a\"\\/\n\r\t\u{8}\u{0}") == #""a\"\\/\n\r\t\u0008\u0000""#)
        #expect(
            JSONWriter.quoted("\u{7F}\u{9B}\u{202E}\u{2066}\u{2028}\u{FEFF}")
                == #""\u007f\u009b\u202e\u2066\u2028\ufeff""#)
        #expect(JSONWriter.quoted("é😀") == "\"é😀\"")
    }

    @Test(
        "What is written is read back the same",
        arguments: ["", "a\u{0}b", "\u{202E}\\u0041", "😀\u{2029}\r\n\"", "\u{7F}"])
    func roundTrip(_ text: String) throws {
        #expect(try JSONDocument(Array(JSONWriter.quoted(text).utf8)).root.string == text)
    }
}
