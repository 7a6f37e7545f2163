import Testing

@testable import Pintle

@Suite("Server names")
struct ServerNameTests {
    static let label63 = String(repeating: "a", count: 63)
    /// A name of 253 characters in four labels.
    static let longest = [label63, label63, label63, String(repeating: "b", count: 61)].joined(separator: ".")

    private static func refusal(_ text: String) -> ServerNameError? {
        do throws(ServerNameError) {
            _ = try ServerName(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A host has one canonical form",
        arguments: [
            ("example.com", "example.com"), ("EXAMPLE.Com", "example.com"), ("example.com.", "example.com"),
            ("localhost", "localhost"), ("_dmarc.example.com", "_dmarc.example.com"), ("a_b.example", "a_b.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("a--b.example", "a--b.example"), ("1.example", "1.example"), ("0x7f.example", "0x7f.example"),
            ("1a", "1a"), ("0xg", "0xg"), ("3com.x1", "3com.x1"), (label63, label63), (longest, longest),
            (longest + ".", longest), ("192.0.2.1", "192.0.2.1"), ("[2001:DB8::1]", "2001:db8::1"),
            ("2001:db8:0:0:0:0:0:1", "2001:db8::1"), ("::", "::"),
        ] as [(String, String)])
    func canonical(_ text: String, _ canonical: String) throws {
        let name = try ServerName(text)
        #expect(name.description == canonical)
        #expect(name == (try ServerName(canonical)))
        #expect(name.hashValue == (try ServerName(canonical).hashValue))
    }

    @Test(
        "An invalid host is refused with its reason and a remedy",
        arguments: [
            ("", .empty), (".", .empty), ("..", .emptyLabel), (".example.com", .emptyLabel),
            ("example..com", .emptyLabel), ("example.com..", .emptyLabel), (label63 + "a", .labelTooLong),
            ("x." + label63 + "a.com", .labelTooLong), ("c." + longest, .tooLong), (longest + "c", .tooLong),
            (String(repeating: "a.", count: 100_000), .tooLong), ("bücher.example", .notASCII),
            ("bu\u{308}cher.example", .notASCII), ("example\u{3002}com", .notASCII), ("ｅxample.com", .notASCII),
            ("*.example.com", .wildcard), ("www*.example.com", .wildcard), ("*", .wildcard),
            ("exa mple.com", .forbiddenCharacter), (" example.com", .forbiddenCharacter),
            ("example.com\n", .forbiddenCharacter), ("example.com/", .forbiddenCharacter),
            ("user@example.com", .forbiddenCharacter), ("a\u{0}.example", .forbiddenCharacter),
            ("%65xample.com", .forbiddenCharacter), ("example.com\\", .forbiddenCharacter),
            ("a,b.example", .forbiddenCharacter), ("example.com:443", .port),
            ("1.2.3.4:443", .port), ("https://example.com", .url), ("https://[::1]:443/", .url),
            ("exa:mple.com", .malformedAddress), (":443", .malformedAddress), ("a:1:2", .malformedAddress),
            ("-a.example", .hyphenAtEdge), ("a-.example", .hyphenAtEdge),
            ("example.-", .hyphenAtEdge), ("xn--", .hyphenAtEdge),
        ] as [(String, ServerNameError.Reason)])
    func refused(_ text: String, _ reason: ServerNameError.Reason) {
        let error = Self.refusal(text)
        #expect(error?.reason == reason && error?.code == reason.rawValue)
        #expect(error?.hint.isEmpty == false)
    }

    @Test(
        "Spellings of addresses on which URL parsers disagree are refused",
        arguments: [
            "127.1", "127.0.1", "1.2.3", "1", "2130706433", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "0x", "a.0x",
            "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.04", "1.2.3.4.", "127.1.", "example.1", "example.0x1f",
            "[1.2.3.4]", "[]", "[::1", "::1]", "[[::1]]", "[::1].", "fe80::1%eth0", "[fe80::1%25eth0]",
            "fe80::1%1", "[example.com]", "0177.0.0.1", "1..2.3",
        ])
    func addressesInDisguise(_ text: String) {
        let reason = Self.refusal(text)?.reason
        #expect(reason == .malformedAddress || reason == .forbiddenCharacter || reason == .emptyLabel)
        #expect(Self.refusal("127.0.0.1") == nil)
    }

    @Test("A DNS name has labels, and an address has none")
    func labels() throws {
        #expect(try ServerName("a.b.c.").labels == ["a", "b", "c"])
        #expect(try ServerName("1.2.3.4").labels.isEmpty)
        #expect(try ServerName("1.2.3.4").ipAddress?.octets == [1, 2, 3, 4])
        #expect(try ServerName("a.b").ipAddress == nil)
    }

    @Test("An IPv4 address and its mapped IPv6 address are different hosts")
    func mapped() throws {
        #expect(try ServerName("::ffff:192.0.2.1") != ServerName("192.0.2.1"))
        #expect(try ServerName("::ffff:c000:201") == ServerName("::ffff:192.0.2.1"))
    }
}
