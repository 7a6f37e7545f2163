import Testing

@testable import Pintle

@Suite("Keys in a policy file")
struct PolicyFileKeyTests {
    @Test("A key with escapes equals the key that it spells, and a similar key is unknown")
    func spelling() {
        let escaped = PolicyText.rule().replacingText("\"host\"", with: "\"h\\u006fst\"")
        #expect(PolicyText.ids(PolicyText.policy(escaped)) == [])
        // The last one has the Kelvin sign. Swift considers it equal to "issuerKey".
        for key in ["hosT", "hos", "hosts", "h\\u006Fsts", "", "issuer\\u212Aey"] {
            let text = PolicyText.policy(PolicyText.rule("example.com", "\"\(key)\": 1"))
            #expect(PolicyText.ids(text) == ["unknown-key"], "\(key)")
        }
    }

    @Test("A pin with escapes equals the pin that it spells")
    func escapedPin() throws {
        let plain = PolicyText.policy(PolicyText.rule())
        let policy = try PinningPolicy(json: Array(plain.replacingText("sha256/", with: "sha256\\/").utf8))
        #expect(Array(policy.hosts) == Array(try PinningPolicy(json: Array(plain.utf8)).hosts))
    }
}
