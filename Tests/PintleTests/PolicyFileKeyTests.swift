import Testing

@testable import Pintle

@Suite("Keys in a policy file")
struct PolicyFileKeyTests {
    private func expectNames<Key: PolicyFileKey>(_ keys: Key.Type) {
        #expect(Key.allNames.map { $0.replacingText("$", with: "") } == Key.allCases.map { "\($0)" })
        #expect(Key.allCases.map(\.name) == Key.allNames)
        #expect(Key.allCases.map(\.rawValue) == Array(0..<Key.allNames.count))
        #expect(Key.allNames.count <= 16)
    }

    @Test("Each key is spelled like its case, in the order of the cases")
    func names() {
        expectNames(PolicyFileKeys.Policy.self)
        expectNames(PolicyFileKeys.Updates.self)
        expectNames(PolicyFileKeys.Host.self)
        expectNames(PolicyFileKeys.Pin.self)
        expectNames(PolicyFileKeys.Expiry.self)
        expectNames(PolicyFileKeys.Anchors.self)
    }

    @Test("A key with escapes equals the key that it spells, and a similar key is unknown")
    func spelling() throws {
        let escaped = PolicyText.rule().replacingText("\"host\"", with: "\"h\\u006fst\"")
        #expect(PolicyText.ids(PolicyText.policy(escaped)) == [])
        for key in ["hosT", "hos", "hosts", "h\\u006Fsts", ""] {
            let text = PolicyText.policy(PolicyText.rule("example.com", "\"\(key)\": 1"))
            #expect(PolicyText.ids(text) == ["unknown-key"], "\(key)")
        }
    }

    @Test("Two spellings are equal only if they have the same bytes, at every length up to 24")
    func spellings() throws {
        func spelling(_ bytes: [UInt8]) -> KeySpelling? { KeySpelling(bytes.elementSpan.bytes) }
        for length in 0...24 {
            let bytes = (0..<length).map { UInt8(ascii: "a") + UInt8($0) }
            #expect(spelling(bytes) != nil && spelling(bytes) == spelling(bytes))
            #expect(spelling(bytes)?.text == String(decoding: bytes, as: UTF8.self))
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x20
                #expect(spelling(other) != spelling(bytes), "\(place) of \(length)")
            }
            #expect(spelling(bytes + [0]) != spelling(bytes))
            #expect(spelling([0] + bytes) != spelling(bytes))
        }
        #expect(spelling([UInt8](repeating: 0x61, count: 25)) == nil)
    }

    @Test("A pin with escapes equals the pin that it spells")
    func escapedPin() throws {
        let plain = PolicyText.policy(PolicyText.rule())
        let policy = try PinningPolicy(json: Array(plain.replacingText("sha256/", with: "sha256\\/").utf8))
        #expect(Array(policy.hosts) == Array(try PinningPolicy(json: Array(plain.utf8)).hosts))
    }
}
