import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("JSON writer")
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

    @Test("The pretty style has two blanks a level, empty containers on one line, and omits nil members")
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

    @Test("The compact style has one line and no blanks")
    func compact() {
        var writer = JSONWriter(.compact)
        write(&writer)
        #expect(
            writer.text == #"{"host":"example.com","port":443,"live":true,"pins":["a",{"b":1}],"none":[],"empty":{}}"#)
    }

    @Test("Quotes, controls and characters that control a terminal are escaped; other text is unchanged")
    func escapes() {
        #expect(JSONWriter.quoted("a\"\\/\n\r\t\u{8}\u{0}") == #""a\"\\/\n\r\t\u0008\u0000""#)
        #expect(
            JSONWriter.quoted("\u{7F}\u{9B}\u{202E}\u{2066}\u{2028}\u{FEFF}")
                == #""\u007f\u009b\u202e\u2066\u2028\ufeff""#)
        #expect(JSONWriter.quoted("é😀") == "\"é😀\"")
    }

    @Test(
        "Written text parses back as the same text",
        arguments: ["", "a\u{0}b", "\u{202E}\\u0041", "😀\u{2029}\r\n\"", "\u{7F}"])
    func roundTrip(_ text: String) throws {
        #expect(try JSONDocument(Array(JSONWriter.quoted(text).utf8)).root.string == text)
    }
}
