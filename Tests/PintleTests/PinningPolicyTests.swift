import Testing

@testable import Pintle

@Suite("Policies")
struct PinningPolicyTests {
    static let live = TestChain().keyPin(0)

    static func host(
        _ host: String, port: UInt16? = nil, subdomains: Bool = false, reportTo: [String] = []
    ) throws(PolicyError) -> PinnedHost {
        try PinnedHost(
            host, port: port, includingSubdomains: subdomains, pins: [live], backupPins: [TestChain.spare()],
            reportTo: reportTo)
    }

    private static func problems(_ hosts: [PinnedHost]) -> [String] {
        do throws(PolicyError) {
            _ = try PinningPolicy(hosts: hosts)
            return []
        } catch {
            return error.problems.map { "\($0.id) \($0.path)" }
        }
    }

    @Test("A policy returns its rules in their order")
    func rules() throws {
        let hosts = [
            try Self.host("b.example", port: 8443, subdomains: true), try Self.host("a.example"),
            try Self.host("::1", port: 443), try Self.host("b.example"),
        ]
        let policy = try PinningPolicy(hosts: hosts, unpinnedHosts: .reject)
        #expect(policy.hosts == hosts)
        #expect(policy.unpinnedHosts == .reject)
        #expect(policy.updateVersion == 0)
        #expect(!policy.allowsUpdatesForAnyHost)
    }

    @Test("A policy without rules is valid and covers no host")
    func empty() throws {
        let policy = try PinningPolicy(hosts: [])
        #expect(policy.hosts.isEmpty)
        #expect(policy.rule(for: ServerEndpoint(host: try ServerName("a.example"))) == nil)
    }

    @Test("The result builder accepts rules one a line, with conditions and loops")
    func builder() throws {
        let isDebug = false
        let policy = try PinningPolicy(unpinnedHosts: .askUser) {
            try Self.host("a.example")
            if isDebug { try Self.host("debug.example") }
            if isDebug {
                try Self.host("b.example")
            } else {
                try Self.host("c.example")
            }
            for number in 0..<2 { try Self.host("n\(number).example") }
            [try Self.host("z.example")]
        }
        #expect(
            policy.hosts.map(\.description) == ["a.example", "c.example", "n0.example", "n1.example", "z.example"])
        #expect(throws: PolicyError.self) {
            try PinningPolicy {
                try Self.host("a.example")
                try PinnedHost("b.example", pins: [Self.live.description])
            }
        }
    }

    @Test("Two rules for the same host and port are refused, in any spelling")
    func duplicates() throws {
        let first = try Self.host("a.example", port: 443)
        #expect(Self.problems([first, try Self.host("a.example"), try Self.host("a.example", port: 8443)]) == [])
        for other in ["a.example", "A.EXAMPLE", "a.example."] {
            let second = try Self.host(other, port: 443, subdomains: true)
            #expect(Self.problems([first, second]) == ["duplicate-rule hosts[1].host"])
        }
        let addresses = [try Self.host("2001:db8::1"), try Self.host("[2001:DB8:0::1]")]
        #expect(Self.problems(addresses) == ["duplicate-rule hosts[1].host"])
    }

    @Test("Reports must go to https hosts that no rule covers")
    func reports() throws {
        let url = { (text: String) in try Self.host("a.example", subdomains: true, reportTo: [text]) }
        #expect(try Self.problems([url("https://reports.example.net/pins")]) == [])
        for covered in ["https://a.example/", "https://r.A.example:8443/pins", "https://x.y.a.example."] {
            #expect(try Self.problems([url(covered)]) == ["report-host-covered hosts[0].reportTo[0]"], "\(covered)")
        }
        #expect(try Self.problems([url("https://nota.example/")]) == [])
        for wrong in ["http://reports.example.net/", "reports.example.net", "https://u@reports.example.net/", ""] {
            #expect(try Self.problems([url(wrong)]) == ["invalid-report-url hosts[0].reportTo[0]"], "\(wrong)")
        }
        // Another rule covers this host, but only on its own port.
        let other = try Self.host("reports.example.net", port: 8443)
        #expect(try Self.problems([url("https://reports.example.net/"), other]) == [])
        #expect(
            try Self.problems([url("https://reports.example.net:8443/"), other])
                == ["report-host-covered hosts[0].reportTo[0]"])
    }

    @Test("A policy reports all of its problems at once")
    func allAtOnce() throws {
        var broken = PinnedHost(unchecked: try ServerName("192.0.2.1"))
        (broken.port, broken.includesSubdomains, broken.pins, broken.reportTo) = (0, true, [Self.live], ["x"])
        #expect(
            Self.problems([try Self.host("a.example"), broken, try Self.host("a.example")]) == [
                "address-with-subdomains hosts[1].includeSubdomains", "invalid-port hosts[1].port",
                "no-backup-pin hosts[1].backupPins", "duplicate-rule hosts[2].host",
                "invalid-report-url hosts[1].reportTo[0]",
            ])
    }
}
