import Testing

@testable import Pintle

@Suite("The rule that decides")
struct DecisionRuleTests {
    /// Returns a policy whose rule n pins the leaf of chain n, so that the trusted chain identifies the rule.
    private static func policy(_ hosts: [(String, UInt16?, Bool)]) throws -> PinningPolicy {
        try PinningPolicy(
            hosts: try hosts.enumerated().map { index, host in
                try PinnedHost(
                    host.0, port: host.1, includingSubdomains: host.2, pins: [TestChain(index).keyPin(0)],
                    backupPins: [TestChain.spare(index)])
            })
    }

    /// Returns the index of the rule whose chain is trusted, or -1 if every chain is.
    private static func rule(_ policy: PinningPolicy, _ host: String, _ port: UInt16 = 443) throws -> Int? {
        let trusted = try (0..<policy.hosts.count + 1).filter {
            try DecisionFixture(policy, host: host, port: port, chain: TestChain($0)).verdict().hasPrefix("trusted")
        }
        if trusted.count == policy.hosts.count + 1 { return -1 }
        #expect(trusted.count == 1, "rules pool their pins: \(trusted)")
        let choice = policy.rule(for: ServerEndpoint(host: try ServerName(host), port: port))
        #expect(choice?.index == trusted.first)
        return trusted.first
    }

    @Test("A rule's port comes before the exact host, and that before the longest parent domain")
    func order() throws {
        let policy = try Self.policy([
            ("example.com", nil, true), ("api.example.com", nil, false), ("example.com", 8443, true),
            ("b.api.example.com", nil, true), ("api.example.com", 9443, false),
        ])
        #expect(try Self.rule(policy, "example.com") == 0)
        #expect(try Self.rule(policy, "api.example.com") == 1)
        #expect(try Self.rule(policy, "x.api.example.com") == 0)
        #expect(try Self.rule(policy, "example.com", 8443) == 2)
        // The port of the parent domain's rule precedes the exact host.
        #expect(try Self.rule(policy, "api.example.com", 8443) == 2)
        #expect(try Self.rule(policy, "api.example.com", 9443) == 4)
        #expect(try Self.rule(policy, "x.api.example.com", 9443) == 0)
        #expect(try Self.rule(policy, "b.api.example.com") == 3)
        #expect(try Self.rule(policy, "c.d.b.api.example.com") == 3)
        #expect(try Self.rule(policy, "c.b.api.example.com", 8443) == 2)
    }

    @Test("A suffix that is not a parent domain is another host")
    func suffixes() throws {
        let policy = try Self.policy([("example.com", nil, true), ("single.test", nil, false)])
        #expect(try Self.rule(policy, "www.example.com") == 0)
        for host in ["evilexample.com", "example.com.evil.test", "com", "example.co", "xample.com", "a-example.com"] {
            #expect(try Self.rule(policy, host) == -1, "\(host)")
        }
        #expect(try Self.rule(policy, "single.test") == 1)
        #expect(try Self.rule(policy, "www.single.test") == -1)
    }

    @Test("Letter case and a trailing dot never matter", arguments: ["example.com", "a.b.example.com", "evil.test"])
    func spellings(_ host: String) throws {
        let policy = try Self.policy([("EXAMPLE.com.", nil, true), ("b.Example.Com", 8443, true)])
        for port in [UInt16(443), 8443] {
            let rule = try Self.rule(policy, host, port)
            for other in [host.uppercased(), host + ".", host.capitalized(), host.uppercased() + "."] {
                #expect(try Self.rule(policy, other, port) == rule)
            }
        }
    }

    @Test("An address in any spelling is a host of its own and a sub-domain of none")
    func addresses() throws {
        let policy = try Self.policy([("2001:db8::1", nil, false), ("192.0.2.1", 8443, false)])
        #expect(try Self.rule(policy, "[2001:DB8:0:0::1]") == 0)
        #expect(try Self.rule(policy, "2001:db8::2") == -1)
        #expect(try Self.rule(policy, "192.0.2.1", 8443) == 1)
        #expect(try Self.rule(policy, "192.0.2.1") == -1)
        // No rule can be for such a spelling, and no system connects to it under this name.
        let mapped = try DecisionFixture(policy, host: "::ffff:192.0.2.1", port: 8443, chain: TestChain(1))
        #expect(mapped.verdict() == "rejected invalid-path other")
    }

    @Test("The match names the rule and says whether it names the host exactly")
    func choice() throws {
        let policy = try Self.policy([("example.com", 8443, true)])
        let own = policy.rule(for: ServerEndpoint(host: try ServerName("example.com"), port: 8443))
        let child = policy.rule(for: ServerEndpoint(host: try ServerName("a.example.com"), port: 8443))
        #expect(own?.isExact == true)
        #expect(child?.isExact == false)
        #expect(own?.pattern == "example.com:8443")
        #expect(child?.host.description == "example.com")
    }
}

extension String {
    /// Returns the string with its first letter in upper case.
    fileprivate func capitalized() -> String { prefix(1).uppercased() + dropFirst() }
}
