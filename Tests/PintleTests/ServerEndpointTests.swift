import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Server endpoints")
struct ServerEndpointTests {
    @Test(
        "A host and port parse",
        arguments: [
            ("example.com", "example.com:443"), ("Example.com:8443", "example.com:8443"),
            ("example.com.:443", "example.com:443"), ("192.0.2.1:1", "192.0.2.1:1"), ("[::1]", "[::1]:443"),
            ("[::1]:65535", "[::1]:65535"), ("::1", "[::1]:443"), ("2001:db8::1:8443", "[2001:db8::1:8443]:443"),
        ])
    func authorities(_ text: String, _ description: String) throws {
        #expect(ServerEndpoint(text)?.description == description)
    }

    @Test(
        "An invalid host or port does not parse",
        arguments: [
            "", ":443", "example.com:", "example.com:0", "example.com:65536", "example.com:-1", "example.com:+1",
            "example.com:4a", "example.com:443:443", "example.com:99999999999999999999", "[::1]:", "[::1]x:443",
            "[::1", "::1]:443", "[example.com]:443", "example.com:４４３", "127.1:443", "a:b:c",
        ])
    func wrongAuthorities(_ text: String) {
        #expect(ServerEndpoint(text) == nil)
    }

    @Test("The default port is used if the text has none")
    func defaultPort() {
        #expect(ServerEndpoint("a.example", defaultPort: 8443)?.port == 8443)
        #expect(ServerEndpoint("a.example:443", defaultPort: 8443)?.port == 443)
    }

    @Test(
        "An https URL in the plain form gives an endpoint",
        arguments: [
            ("https://example.com", "example.com:443"), ("HTTPS://Example.com/", "example.com:443"),
            ("https://example.com:8443/a?b#c", "example.com:8443"), ("https://example.com?q", "example.com:443"),
            ("https://example.com#f", "example.com:443"), ("https://[2001:db8::1]:8443/", "[2001:db8::1]:8443"),
            ("https://[::1]", "[::1]:443"), ("https://192.0.2.1/", "192.0.2.1:443"),
            ("https://example.com/@b:c", "example.com:443"),
        ])
    func urls(_ text: String, _ description: String) {
        #expect(ServerEndpoint(httpsURL: text)?.description == description)
    }

    @Test(
        "URLs on which parsers disagree give no endpoint",
        arguments: [
            "", "https://", "https:///", "http://example.com", "https:/example.com", "https:example.com",
            "//example.com", "example.com", " https://example.com", "https://user@example.com/",
            "https://user:p@example.com/", "https://example.com\\@evil.example/", "https://exa mple.com/",
            "https://example.com\t/", "https://example.com/\n", "https://bücher.example/",
            "https://example\u{3002}com/",
            "https://127.1/", "https://0x7f.1/", "https://2130706433/", "https://%65xample.com/",
            "https://*.example.com/",
            "https://::1/", "https://2001:db8::1:443/", "https://example.com:/", "https://example.com:0/",
            "https://example.com:65536/", "https://[::1]evil.example/", "https://[fe80::1%25eth0]/",
            "https://evil.example%2f@example.com/", "https://example.com/\u{0}", "https://example..com/",
        ])
    func ambiguousURLs(_ text: String) {
        #expect(ServerEndpoint(httpsURL: text) == nil)
    }

    @Test(
        "A URL of https or wss gives an endpoint",
        arguments: [
            ("https://Example.com/a", "example.com:443"), ("wss://example.com:8443/", "example.com:8443"),
            ("HTTPS://example.com", "example.com:443"), ("https://example.com.:443/", "example.com:443"),
            ("https://[2001:DB8::1]/", "[2001:db8::1]:443"), ("https://192.0.2.1:1", "192.0.2.1:1"),
            ("https://xn--bcher-kva.example/", "xn--bcher-kva.example:443"),
            ("https://example.com:65535/@b", "example.com:65535"),
        ])
    func url(_ text: String, _ description: String) throws {
        #expect(try ServerEndpoint(url: try #require(URL(string: text))).description == description)
    }

    @Test(
        "A URL that names no server is refused with the reason",
        arguments: [
            ("http://example.com/", "scheme"), ("ftp://example.com/", "scheme"), ("file:///etc/passwd", "scheme"),
            ("mailto:a@example.com", "scheme"), ("//example.com/", "scheme"), ("example.com", "scheme"),
            ("https://user@example.com/", "user-info"), ("https://user:secret@example.com/", "user-info"),
            ("https://example.com%5C@evil.example/", "user-info"), ("https:///a", "empty"),
            ("https://127.1/", "malformed-address"), ("https://0x7f.1/", "malformed-address"),
            ("https://%65xample.com/", "forbidden-character"),
            ("https://example..com/", "empty-label"), ("https://[fe80::1%25eth0]/", "malformed-address"),
            ("https://example.com:0/", "port"), ("https://example.com:65536/", "port"),
        ])
    func refused(_ text: String, _ code: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: ServerNameError.self) { try ServerEndpoint(url: url) }
        #expect(error?.code == code, "\(url.absoluteString)")
        #expect(error.map { !"\($0)".contains("secret") && !$0.hint.isEmpty } == true)
    }

    @Test(
        "No error shows user-info, path or query, which may be secret",
        arguments: [
            "http://user:secret@example.com/", "https://user:secret@example.com/", "ftp:user:secret@example.com",
            "mailto:secret@example.com", "http://example.com/secret", "https://example.com:0/secret?secret",
            "https://user:secret@example.com/" + String(repeating: "a", count: 8192),
            "https://user@secret@example.com/", "https://127.1/#secret", "secret", "user:secret",
        ])
    func secrets(_ text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: ServerNameError.self) { try ServerEndpoint(url: url) }
        #expect(error.map { "\($0) \($0.text) \($0.errorDescription ?? "")".contains("secret") } == (text == "secret"))
        #expect(error?.errorDescription == error?.description)
    }

    @Test("A URL relative to a base is resolved first")
    func relative() throws {
        let base = try #require(URL(string: "https://example.com:8443/a/"))
        let url = try #require(URL(string: "b?c", relativeTo: base))
        #expect(try ServerEndpoint(url: url).description == "example.com:8443")
    }

    @Test("A URL longer than 8,192 bytes gives no endpoint")
    func length() {
        let start = "https://example.com/"
        let longest = start + String(repeating: "a", count: 8192 - start.utf8.count)
        #expect(ServerEndpoint(httpsURL: longest) != nil)
        #expect(ServerEndpoint(httpsURL: longest + "a") == nil)
    }
}
