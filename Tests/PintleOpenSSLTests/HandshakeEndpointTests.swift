import Pintle
import PintleOpenSSL
import PintleTLSClient
import Testing

@Suite("The endpoint of a handshake")
struct HandshakeEndpointTests {
    @Test("A name is lower-cased and loses one final dot")
    func nameIsCanonical() throws {
        let endpoint = try ServerEndpoint(host: "WWW.Example.com.", port: 443)
        #expect(endpoint.host.description == "www.example.com")
        #expect(endpoint.host.ipAddress == nil)
        #expect(endpoint.description == "www.example.com:443")
    }

    @Test(
        "Address literals are recognized",
        arguments: [
            ("127.0.0.1", false, "127.0.0.1:443"), ("::1", true, "[::1]:443"),
            ("[2001:DB8::1]", true, "[2001:db8::1]:443"),
        ])
    func literals(host: String, isIPv6: Bool, description: String) throws {
        let endpoint = try ServerEndpoint(host: host, port: 443)
        #expect(endpoint.host.ipAddress?.isIPv6 == isIPv6)
        #expect(endpoint.description == description)
    }

    @Test("A host name may begin with digits", arguments: ["1and1.example", "127.0.0.1.example", "0x7f.example"])
    func digitsInFront(host: String) throws {
        #expect(try ServerEndpoint(host: host, port: 443).host.ipAddress == nil)
    }

    @Test(
        "A text that the resolver, but not Pintle, takes for an address is refused",
        arguments: ["127.1", "0x7f.1", "2130706433", "0x7f000001", "127.0.0.01", "1.2.3.4.5", "example.1"])
    func shorthandAddresses(host: String) {
        expectInvalid(host)
    }

    @Test(
        "A text that is not a host is refused",
        arguments: [
            "", ".", "..", "a..b", "exämple.com", "a\0.example", "user@example.com", "example.com/", "exa mple",
            "[example.com]", "[::1", "::1%lo", "example.com\n", "a。b", String(repeating: "a", count: 64),
            String(repeating: "a.", count: 127) + "aa",
        ])
    func noHosts(host: String) {
        expectInvalid(host)
    }

    @Test("Port 0 is refused")
    func portZero() {
        let error = #expect(throws: HandshakeError.self) { try ServerEndpoint(host: "example.com", port: 0) }
        #expect(error?.code == .invalidHost)
    }

    private func expectInvalid(_ host: String) {
        let error = #expect(throws: HandshakeError.self) { try ServerEndpoint(host: host, port: 443) }
        #expect(error?.code == .invalidHost)
        #expect(error?.hint != nil)
        #expect(error?.message.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true)
    }
}
