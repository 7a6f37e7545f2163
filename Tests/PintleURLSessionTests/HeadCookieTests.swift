import Foundation
import FoundationNetworking
import PintleOpenSSL
import Testing

@testable import PintleSuffixes
@testable import PintleURLSession

/// Cookies of a response, before they reach Foundation's storage.
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

    private func cookies(_ values: [[UInt8]], from address: String = "https://a.example/b") throws -> [String] {
        var head = ResponseHead()
        for value in values {
            let line = Array("Set-Cookie: ".utf8) + value + Array("\r\n".utf8)
            guard case .field(let name, let text) = line.withUnsafeBytes({ HeadLine($0) }) else { continue }
            head.fields.append((name, text))
        }
        let url = try #require(URL(string: address))
        return head.cookies(for: url).map { "\($0.name)=\($0.value)" }
    }

    @Test("A cookie need not be ASCII, and bytes on which Foundation's parser traps do not end the process")
    func notASCII() throws {
        #expect(try cookies(Self.trap + [Array("a=b; Path=/".utf8)]).last == "a=b")
        #expect(try cookies([Array("a=\u{E9}".utf8), Array("c=d".utf8)]) == ["a=\u{E9}", "c=d"])
        #expect(try cookies([Array("a=".utf8) + [0xE9], Array("c=d".utf8)]) == ["a=\u{E9}", "c=d"])
        #expect(try cookies([Array("a=e".utf8), Array("c=d".utf8)]) == ["a=e", "c=d"])
    }

    @Test("Cookies are sent in the bytes that came, each in its own encoding")
    func bytes() throws {
        func field(_ values: [[UInt8]]) throws -> [UInt8]? {
            var head = ResponseHead()
            for value in values { head.fields.append(("Set-Cookie", FieldValue(value))) }
            return HTTPCookie.latin1Field(of: head.cookies(for: try #require(URL(string: "https://a.example/"))))
        }
        let (plain, utf8, latin1) = (
            Array("a=b".utf8), Array("c=\u{E9}\u{4E2D}".utf8), Array("d=".utf8) + [0xE9, 0x85]
        )
        #expect(try field([plain, latin1, utf8]) == plain + Array("; ".utf8) + latin1 + Array("; ".utf8) + utf8)
        #expect(try field([latin1]) == latin1 && field([plain, utf8]) == nil && field([]) == nil)
        // A server cannot make the session send another encoding.
        #expect(try field([utf8 + Array("; Comment=ISO-8859-1".utf8)]) == nil)
    }

    @Test("A cookie is for its server or a parent domain, not for a whole top-level domain or a range of addresses")
    func domain() throws {
        for (host, domain, isCookie) in [
            ("a.example", "a.example", true), ("www.a.example", "a.example", true), ("www.a.example", "example", false),
            ("www.a.example", ".example", false), ("www.a.example", "example.", false), ("a.example.", ".", false),
            ("a.example.", "a.example", true), ("localhost", "localhost", true), ("127.0.0.1", "127.0.0.1", true),
            ("a.co.uk", "co.uk", false), ("www.a.co.uk", "a.co.uk", true), ("www.a.co.uk", "CO.UK", false),
            ("a.github.io", "github.io", false), ("b.a.github.io", "a.github.io", true),
            ("127.0.0.1", "0.0.1", false), ("127.0.0.1", ".1", false), ("[2001:db8::1]", ":1", false),
        ] {
            let value = Array("a=b; Domain=\(domain)".utf8)
            #expect(
                try cookies([value], from: "https://\(host)/") == (isCookie ? ["a=b"] : []), "\(domain) from \(host)")
        }
    }

    @Test("A server that is a public suffix sets cookies for itself only; other servers also for their sub-domains")
    func publicSuffix() throws {
        for (host, domain) in [("github.io", "github.io"), ("example.com", ".example.com")] {
            var head = ResponseHead()
            head.fields.append(("Set-Cookie", "a=b; Domain=\(host); Secure; Path=/x"))
            let url = try #require(URL(string: "https://\(host)/"))
            let cookie = try #require(head.cookies(for: url).first)
            #expect(cookie.domain == domain && cookie.isSecure && cookie.path == "/x" && cookie.value == "b")
        }
    }

    @Test("Without a list, no cookie is for a domain")
    func missingList() throws {
        for (domain, expected) in [("co.uk", nil), ("example.co.uk", nil), ("www.example.co.uk", "www.example.co.uk")] {
            var head = ResponseHead()
            head.fields.append(("Set-Cookie", "a=b; Domain=\(domain)"))
            let url = try #require(URL(string: "https://www.example.co.uk/"))
            #expect(head.cookies(for: url, suffixes: .missing).map(\.domain) == [expected].compactMap(\.self))
        }
    }

    @Test("A cookie has to keep the promise of its name's prefix, in upper or lower case")
    func prefix() throws {
        for (cookie, address, isKept) in [
            ("__Secure-a=b; Secure", "https://a.example/", true), ("__Secure-a=b", "https://a.example/", false),
            ("__Secure-a=b; Secure", "http://a.example/", false), ("__sEcUre-a=b", "https://a.example/", false),
            ("__Secure-a=b; Secure; Domain=a.example", "https://a.example/", true),
            ("__Host-a=b; Secure; Path=/", "https://a.example/", true),
            ("__Host-a=b; Secure; Path=/x", "https://a.example/", false),
            ("__Host-a=b; Path=/", "https://a.example/", false),
            // The path of the request is "/" too, but the server has not set it.
            ("__Host-a=b; Secure", "https://a.example/", false), ("__hoSt-a=b; Secure", "https://a.example/x", false),
            ("__Host-a=b; Secure; XPath=/", "https://a.example/", false),
            ("__Host-a=Path=/; Secure", "https://a.example/", false),
            ("c=d; Path=/, __Host-a=b; Secure", "https://a.example/", false),
            ("__Host-a=b; Secure; pATH =/", "https://a.example/x/y", true), ("a=b; Secure", "https://a.example/", true),
            ("__Host-a=b; Secure; Path=/; Domain=a.example", "https://a.example/", false),
            ("__HOST-a=b; Secure; Path=/; Domain=a.example", "https://www.a.example/", false),
            ("__Host-a=b; Secure; Path=/", "http://a.example/", false), ("__Hos-a=b", "http://a.example/", true),
            ("Secure-a=b", "http://a.example/", true),
            // A combining character behind the prefix does not hide it.
            ("__Host-\u{301}a=b", "https://a.example/", false), ("__Secure-\u{301}a=b", "https://a.example/", false),
            ("__Host-\u{301}a=b; Secure; Path=/", "https://a.example/", true),
            ("__Secure-\u{301}a=b; Secure", "https://a.example/", true),
        ] {
            #expect(
                try cookies([Array(cookie.utf8)], from: address).filter { !$0.hasPrefix("c=") }.count
                    == (isKept ? 1 : 0), "\(cookie) at \(address)")
        }
    }

    @Test("A path or age is read byte by byte, so a combining character does not hide its first one")
    func combining() throws {
        let cookie = try #require(SetCookie("a=b; Path=/\u{301}x; Max-Age=-\u{301}1", at: Date()))
        #expect(cookie.path == "/\u{301}x" && cookie.expiry == nil)
        let other = try #require(SetCookie("a=b; Path=\u{301}x; Max-Age=-1", at: Date()))
        #expect(other.path == "/" && other.expiry == .distantPast)
    }

    @Test("A response over plain HTTP sets no secure cookie", arguments: ["http", "https"])
    func secure(scheme: String) throws {
        let kept = try cookies([Array("a=b; Secure".utf8), Array("c=d".utf8)], from: "\(scheme)://a.example/")
        #expect(kept == (scheme == "https" ? ["a=b", "c=d"] : ["c=d"]))
    }

    @Test("A cookie from plain HTTP overlays a secure one of the same name if both go to one host and path")
    func overlay() throws {
        func cookie(_ name: String, _ domain: String, _ path: String, isSecure: Bool) throws -> HTTPCookie {
            var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: domain, .path: path]
            if isSecure { properties[.secure] = "TRUE" }
            return try #require(HTTPCookie(properties: properties))
        }
        for (name, domain, path, overlays) in [
            ("sid", "a.example", "/x", true), ("sid", ".example", "/x/y", true), ("sid", ".b.a.example", "/x", true),
            ("sid", "a.example", "/", false), ("sid", "xa.example", "/x", false), ("other", "a.example", "/x", false),
        ] {
            let plain = try cookie(name, domain, path, isSecure: false)
            #expect(plain.overlays(try cookie("sid", "a.example", "/x", isSecure: true)) == overlays, "\(plain)")
            #expect(!plain.overlays(try cookie("sid", "a.example", "/x", isSecure: false)))
        }
    }

    @Test("One response sets at most fifty cookies, in separate fields or in one", arguments: [true, false])
    func count(inOneField: Bool) throws {
        for count in [50, 51, 500] {
            let pairs = (0..<count).map { "c\($0)=v" }
            let values = inOneField ? [pairs.joined(separator: ", ")] : pairs
            #expect(try cookies(values.map { Array($0.utf8) }) == Array(pairs.prefix(50)))
        }
    }

    @Test("Refused cookies count towards the fifty, in separate fields or in one", arguments: [true, false])
    func refused(inOneField: Bool) throws {
        for count in [49, 50] {
            let pairs = (0..<count).map { "c\($0)=v; Domain=example" }
            let values = (inOneField ? [pairs.joined(separator: ", ")] : pairs) + ["a=b"]
            #expect(try cookies(values.map { Array($0.utf8) }) == (count == 49 ? ["a=b"] : []))
        }
    }

    @Test("A comma in a date does not end a cookie, but a comma before another cookie does")
    func commas() throws {
        let date = "Expires=Wed, 09 Jun 2032 10:18:14 GMT"
        #expect(try cookies([Array("a=b; \(date); Path=/".utf8)]) == ["a=b"])
        #expect(try cookies([Array("a=b; \(date), c=d; \(date)".utf8), Array("e=f".utf8)]) == ["a=b", "c=d", "e=f"])
        // Fifty-one cookies with dates in one field: the last cookie is cut off, and no date.
        let pairs = (0..<51).map { "c\($0)=v" }
        let field = pairs.map { "\($0); \(date)" }.joined(separator: ",")
        #expect(try cookies([Array(field.utf8)]) == Array(pairs.prefix(50)))
    }

    @Test("A cookie has at most 5000 bytes, and a longer one does not remove the others")
    func size() throws {
        let longest = "a=" + String(repeating: "x", count: 4_998)
        #expect(try cookies([Array(longest.utf8), Array("c=d".utf8)]) == [longest, "c=d"])
        #expect(try cookies([Array("\(longest)x".utf8), Array("c=d".utf8)]) == ["c=d"])
    }
}
