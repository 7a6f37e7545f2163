import Testing

@testable import Pintle
@testable import PintlePolicyFile

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

    @Test("A rule with every key is written as it was read, in the order of the list of keys")
    func everyKey() throws {
        let pem = JSONWriter.quoted(PEMBlock.text(label: "CERTIFICATE", bytes: MinimalCertificate.der()))
        let text = """
            {
              "version": 1,
              "hosts": [
                {
                  "host": "a.example",
                  "note": "the shop",
                  "port": 8443,
                  "includeSubdomains": true,
                  "pins": [
                    {
                      "spki": "\(PolicyText.pin)",
                      "at": "leaf"
                    },
                    {
                      "spki": "\(PolicyText.third)",
                      "at": "ca"
                    }
                  ],
                  "backupPins": [
                    {
                      "certificate": "\(PolicyText.fingerprint)",
                      "at": "leaf",
                      "note": "spare"
                    }
                  ],
                  "requires": "leafAndCA",
                  "expiry": {
                    "after": "2027-11-20T00:00:00Z",
                    "then": "reject"
                  },
                  "enforcement": "reportOnly",
                  "anchors": {
                    "include": [
                      \(pem)
                    ]
                  },
                  "minimumPathLength": 3,
                  "issuerKey": "\(PolicyText.third)",
                  "reportTo": [
                    "https://reports.example.net/pins"
                  ],
                  "withdraws": "the key was stolen"
                }
              ]
            }

            """
        #expect(String(decoding: try PinningPolicy(json: Array(text.utf8)).json(), as: UTF8.self) == text)
        let rule = try #require(try JSONDocument(Array(text.utf8)).root["hosts"]?.elements?.first { _ in true })
        let keys = try #require(rule.members).map { $0.key.string }
        #expect(keys == PolicyFileKeys.Rule.allCases.map(\.rawValue))
    }

    @Test("Each term about the path has the name of its key")
    func pathTerms() {
        for term in PathTerm.allCases { #expect(PolicyFileKeys.Rule(rawValue: "\(term)") != nil) }
    }

    @Test("A pin with escapes equals the pin that it spells")
    func escapedPin() throws {
        let plain = PolicyText.policy(PolicyText.rule())
        let policy = try PinningPolicy(json: Array(plain.replacingText("sha256/", with: "sha256\\/").utf8))
        #expect(Array(policy.hosts) == Array(try PinningPolicy(json: Array(plain.utf8)).hosts))
    }
}
