import Testing

@testable import Pintle

/// Tests the names of certificates at their limits. Each refused name has an accepted one that differs in one octet.
@Suite("DNS names of certificates")
struct DNSPatternTests {
    private static func pattern(_ text: String) -> DNSPattern? { DNSPattern(ArraySlice(text.utf8)) }

    private static func isMatch(_ name: String, _ host: String) -> Bool { pattern(name)?.matches(host) ?? false }

    /// A name of this many octets, at least 65, with labels of at most 63.
    private static func name(_ count: Int) -> String {
        let head = String(repeating: String(repeating: "a", count: 31) + ".", count: count / 32)
        return head + String(repeating: "b", count: count - head.utf8.count)
    }

    @Test("A label has one to 63 octets, and a name at most 253, to which a wildcard does not count")
    func lengths() {
        for (count, isName) in [(0, false), (1, true), (2, true), (62, true), (63, true), (64, false)] {
            let label = String(repeating: "a", count: count)
            for name in [label, label + ".test", "test." + label, "a." + label + ".test", "*." + label] {
                #expect((Self.pattern(name) != nil) == isName, "\(name)")
            }
        }
        for (count, isName) in [(252, true), (253, true), (254, false), (255, false)] {
            let name = Self.name(count)
            #expect(name.utf8.count == count)
            #expect((Self.pattern(name) != nil) == isName)
            #expect((Self.pattern("*." + name) != nil) == isName)
        }
        #expect(Self.pattern("") == nil && Self.pattern("*.") == nil && Self.pattern("*") == nil)
    }

    @Test("A label has letters, digits and hyphens, and a hyphen neither first nor last")
    func characters() {
        for octet in UInt8(0)...0xFF {
            let isLetterOrDigit =
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= octet || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet
            let isHyphen = octet == UInt8(ascii: "-")
            let isAlone = isLetterOrDigit || octet == UInt8(ascii: "*")
            let (tail, dot) = (Array(".test".utf8), UInt8(ascii: "."))
            #expect(
                (DNSPattern(([0x61, octet, 0x61] + tail)[...]) != nil) == (isLetterOrDigit || isHyphen || octet == dot))
            #expect((DNSPattern(([octet] + tail)[...]) != nil) == isAlone)
            for label in [[0x61, 0x2D, octet], [octet, 0x61], [0x61, octet], [0x61, 0x62, octet]] {
                #expect((DNSPattern((label + tail)[...]) != nil) == isLetterOrDigit, "\(label)")
            }
        }
    }

    @Test("The name is in lower case, and its wildcard apart")
    func parts() throws {
        for (text, suffix, isWildcard) in [
            ("A9-z.TEST", "a9-z.test", false), ("*.A.Test", "a.test", true), ("*.test", "test", true),
        ] {
            let pattern = try #require(Self.pattern(text))
            #expect(pattern.suffix == suffix && pattern.isWildcard == isWildcard)
        }
        // Addresses are no names, and what only looks like one is.
        for (text, isName) in [
            ("192.0.2.7", false), ("*.192.0.2.7", false), ("192.0.2.256", true), ("192.0.2", true),
            ("1.192.0.2.7", true),
        ] {
            #expect((Self.pattern(text) != nil) == isName, "\(text)")
        }
    }

    @Test("A wildcard stands for one label of letters, digits and hyphens, above a suffix with a dot")
    func wildcards() {
        for host in ["a.b.test", "9.b.test", "a-9.b.test", "z0.b.test"] { #expect(Self.isMatch("*.b.test", host)) }
        for host in ["a_c.b.test", "b.test", "x.a.b.test", "a.c.test", "a.b.tests", "ab.test", "test", ""] {
            #expect(!Self.isMatch("*.b.test", host), "\(host)")
        }
        #expect(!Self.isMatch("*.test", "b.test") && Self.isMatch("b.test", "b.test"))
        #expect(!Self.isMatch("b.test", "a.b.test") && !Self.isMatch("a.b.test", "b.test"))
    }

    @Test("The text about a name that is none repeats at most 253 octets of it")
    func refusals() {
        func refusal(_ text: String) -> String { DNSPattern.refusal(of: ArraySlice(text.utf8)) }
        #expect(refusal("") == "not a DNS name: an empty text")
        #expect(refusal("_") == "not a DNS name: _")
        #expect(refusal("a\0") == "not a DNS name: a\\00")
        for count in [252, 253, 254, 300] {
            let text = String(repeating: "_", count: min(count, 253)) + (count > 253 ? "…" : "")
            #expect(refusal(String(repeating: "_", count: count)) == "not a DNS name: " + text)
        }
    }
}
