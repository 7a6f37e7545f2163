import Foundation
import FoundationNetworking
import Testing

@testable import PintleURLSession

/// Cookies that a server sets, on their way to Foundation's parser.
@Suite("Cookies of a head")
struct HeadCookieTests {
    /// Foundation's parser traps on these two together.
    private static let trap: [[UInt8]] = {
        let start: [UInt8] = [0xDC, 0x94, 0xC2, 0x89, 0xC4, 0xDF, 0xAF, 0x9E]
        let end: [UInt8] = Array("; Domain=a.example;/ 2".utf8) + [0xBD] + Array("1.  \0-x".utf8)
        return [
            start + Array("th.TP/1.1H c".utf8),
            start + Array("th=/".utf8) + end + [UInt8](repeating: 0xE2, count: 5) + Array("=/".utf8) + end
                + [UInt8](repeating: 0xE2, count: 10) + [0xF2, 0xE2, 0xE2] + Array("p".utf8),
        ]
    }()

    private func cookies(_ values: [[UInt8]]) throws -> [String] {
        var head = ResponseHead()
        for value in values {
            let line = Array("Set-Cookie: ".utf8) + value + Array("\r\n".utf8)
            guard case .field(let name, let text) = line.withUnsafeBytes({ HeadLine($0) }) else { continue }
            head.fields.append((name, text))
        }
        let url = try #require(URL(string: "https://a.example/b"))
        return head.cookies(for: url).map { "\($0.name)=\($0.value)" }
    }

    @Test("A cookie that is not ASCII is none, and does not take the others away")
    func notASCII() throws {
        #expect(try cookies(Self.trap) == [])
        #expect(try cookies(Self.trap + [Array("a=b; Path=/".utf8)]) == ["a=b"])
        #expect(try cookies([Array("a=\u{E9}".utf8), Array("c=d".utf8)]) == ["c=d"])
        #expect(try cookies([Array("a=e".utf8), Array("c=d".utf8)]) == ["a=e", "c=d"])
    }
}
