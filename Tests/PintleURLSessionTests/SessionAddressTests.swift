import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

/// One parse of a URL: the policy is asked about the same host that libcurl connects to.
@Suite("Pinned sessions: addresses")
struct SessionAddressTests {
    @Test(
        "A URL that programs parse differently is refused",
        arguments: [
            "https://user@localhost/", "https://user:pw@localhost/", "https://localhost\\@127.0.0.1/",
            "https://127.0.0.1\\.localhost/", "https:\\\\localhost/", "https://127\u{3002}0\u{3002}0\u{3002}1/",
            "https://localh\u{F6}st/", "https://local host/", "https://localhost%00.example/",
            "https://0x7f.1.example.1/", "https://[fe80::1%25lo]/", "https://localhost:0/", "https://localhost:65536/",
            "https:///localhost/",
            "https:/localhost/", "localhost/", "https://[::ffff:127.0.0.1]/", "https://[::FFFF:7f00:1]/",
            "http://[::ffff:127.0.0.1]/", "https://0.0.0.0/", "https://0/", "https://0x0/", "https://[::]/",
            "https://[0:0:0:0:0:0:0.0.0.0]/", "http://0.0.0.0/", "http://[::]/",
        ])
    func ambiguous(text: String) throws {
        let error = #expect(throws: SessionError.self) { try CurlURL(text) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "A URL that all programs parse alike, or that can be normalized, is accepted",
        arguments: [
            ("https://localhost/", "localhost:443"), ("https://LOCALHOST./", "localhost:443"),
            ("https://127.0.0.1/", "127.0.0.1:443"), ("https://127.1/", "127.0.0.1:443"),
            ("https://0x7f.1/", "127.0.0.1:443"), ("https://2130706433/", "127.0.0.1:443"),
            ("https://0177.0.0.1:8443/", "127.0.0.1:8443"), ("https://%6cocalhost/", "localhost:443"),
            ("https://localhost/@127.0.0.1", "localhost:443"), ("https://localhost#@127.0.0.1/", "localhost:443"),
            ("https://localhost?@127.0.0.1/", "localhost:443"), ("https://[::1]/", "[::1]:443"),
            ("https://[0:0::1]/", "[::1]:443"), ("https://1/", "0.0.0.1:443"), ("https://[::2]/", "[::2]:443"),
            ("https://[::fffe:7f00:1]/", "[::fffe:7f00:1]:443"),
            ("http://xn--bcher-kva.example/", "xn--bcher-kva.example:80"),
        ])
    func plain(text: String, endpoint: String) throws {
        #expect(try CurlURL(text).endpoint.description == endpoint)
    }

    @Test(
        "The policy is asked about the host that libcurl connects to, however Foundation parses the URL",
        arguments: [
            "127.0.0.1", "127.1", "0x7f.1", "2130706433", "127\u{3002}0\u{3002}0\u{3002}1", "\u{FF11}27.0.0.1",
            "[::ffff:127.0.0.1]",
        ])
    func spelling(host: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        // Foundation cannot represent some of these spellings at all, so no request is possible.
        guard let url = URL(string: "https://\(host):\(server.port)/") else { return }
        let bad = URLSession.pinned(to: try fixture.policy(["127.0.0.1"], rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(from: url) }
        let isRefused = error?.refusal == .invalidRequest
        #expect(isRefused || error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
        #expect(server.requestByteCount == 0)
        guard !isRefused else { return }
        let good = URLSession.pinned(to: try fixture.policy(["127.0.0.1"]))
        #expect(try await good.data(from: url).1.trustReceipt?.matchedPin != nil)
    }
}
