import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        for (isDebug, middle) in [(false, ["c.example"]), (true, ["debug.example", "b.example"])] {
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
                policy.hosts.map(\.description)
                    == ["a.example"] + middle + ["n0.example", "n1.example", "z.example"])
        }
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

    @Test("Plain HTTP is allowed to hosts that no rule for any port covers, if the policy trusts the system about them")
    func plainHTTP() throws {
        func allows(
            _ host: String, port: UInt16 = 80, rules: [PinnedHost],
            _ unpinned: PinningPolicy.UnpinnedHosts = .systemTrust
        ) throws -> Bool {
            let policy = try PinningPolicy(hosts: rules, unpinnedHosts: unpinned)
            return policy.allowsPlainHTTP(
                to: ServerEndpoint(host: try ServerName(host), port: port), ports: policy.portsOfRules)
        }
        let rules = [try Self.host("a.example", subdomains: true), try Self.host("b.example", port: 8443)]
        #expect(try allows("c.example", rules: rules))
        for unpinned in [PinningPolicy.UnpinnedHosts.askUser, .reject] {
            #expect(try !allows("c.example", rules: rules, unpinned))
        }
        #expect(try !allows("a.example", rules: rules) && !allows("x.a.example", rules: rules))
        // Also if no rule names a port.
        #expect(try !allows("a.example", rules: [rules[0]]))
        // A rule for one port counts for every port.
        #expect(try !allows("b.example", rules: rules) && !allows("b.example", port: 8443, rules: rules))
        #expect(try allows("x.b.example", rules: rules))
        // Another spelling of an address may have a rule.
        #expect(try allows("192.0.2.1", rules: []) && !allows("::ffff:192.0.2.1", rules: []))
    }

    @Test("The version of an update is from 0 to the largest whole number that all JSON readers keep")
    func versions() throws {
        let last = Int(PinningPolicy.updateVersions.upperBound)
        for version in [0, 1, last] {
            #expect(try PinningPolicy(hosts: [], updateVersion: version).updateVersion == version)
        }
        for version in [-1, last + 1] {
            let error = #expect(throws: PolicyError.self) { try PinningPolicy(hosts: [], updateVersion: version) }
            #expect(error?.problems.map(\.id) == ["invalid-update-version"])
        }
    }

    @Test("Two policies have the same rules if they treat every host alike; order and parts of seconds do not count")
    func sameRules() throws {
        let (a, b) = (try Self.host("a.example"), try Self.host("b.example"))
        func policy(
            _ hosts: [PinnedHost], _ unpinned: PinningPolicy.UnpinnedHosts = .systemTrust
        ) throws -> PinningPolicy { try PinningPolicy(hosts: hosts, unpinnedHosts: unpinned) }
        let both = try policy([a, b])
        #expect(try both.hasSameRules(as: policy([b, a])))
        #expect(try !both.hasSameRules(as: policy([b, a], .reject)))
        #expect(try !both.hasSameRules(as: policy([a])) && !policy([a]).hasSameRules(as: both))
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        func expiring(_ expiry: PinExpiry) throws -> PinningPolicy {
            var rule = a
            rule.expiry = expiry
            return try policy([rule])
        }
        let whole = try expiring(.rejecting(after: date))
        #expect(try whole.hasSameRules(as: expiring(.rejecting(after: date + 0.9))))
        #expect(try !whole.hasSameRules(as: expiring(.rejecting(after: date + 1))))
        #expect(try !whole.hasSameRules(as: expiring(.systemTrust(after: date + 0.9))))
        #expect(try expiring(.systemTrust(after: date)).hasSameRules(as: expiring(.systemTrust(after: date + 0.9))))
        #expect(try !whole.hasSameRules(as: policy([a])))
    }

    @Test("The roots that decisions may need are those of the rules, and the system's unless other hosts are refused")
    func roots() throws {
        let own = TrustAnchors.only([try UnsignedCertificate().read()])
        let rule = try PinnedHost("a.example", anchors: own)
        #expect(Array(try PinningPolicy(hosts: [rule]).anchors) == [.system, own])
        #expect(Array(try PinningPolicy(hosts: [rule], unpinnedHosts: .reject).anchors) == [own])
    }

    @Test("A list of problems is cut off a little above its limit, whatever the problem")
    func manyProblems() throws {
        let most = PolicyError.maximumProblems + 1
        func count(_ hosts: [PinnedHost]) -> Int {
            do throws(PolicyError) { _ = try PinningPolicy(hosts: hosts) } catch { return error.problems.count }
            return 0
        }
        func flawed(_ host: String, _ change: (inout PinnedHost) -> Void) throws -> PinnedHost {
            var rule = PinnedHost(unchecked: try ServerName(host))
            change(&rule)
            return rule
        }
        #expect(try count((0..<most + 9).map { number in try flawed("h\(number).example") { $0.port = 0 } }) == most)
        #expect(count([PinnedHost](repeating: try Self.host("a.example"), count: most + 9)) == most)
        #expect(try count([flawed("a.example") { $0.reportTo = .init(repeating: "x", count: most + 9) }]) == most)
        let pins = try flawed("a.example") { $0.pins = .init(repeating: Self.live, count: most + 9) }
        #expect(pins.problems.count == most)
    }

    @Test("A place knows the rule that contains it")
    func places() {
        #expect(PolicyPath.rule(3).ruleIndex == 3 && PolicyPath.rule(3)["pins"][1].ruleIndex == 3)
        #expect(PolicyPath.member("notes")[3].ruleIndex == nil && PolicyPath.member("hosts").ruleIndex == nil)
        #expect(PolicyPath.root.isRoot && PolicyPath.root.ruleIndex == nil && !PolicyPath.rule(3).isRoot)
    }

    @Test("The description of a problem begins with its line and column, and names its place")
    func problemDescription() {
        let place = PolicyPath.member("hosts")
        let problem = PolicyProblem(id: "i", at: place, line: 3, column: 7, message: "m", help: "h")
        #expect(problem.description == "3:7: hosts: i: m; h")
        #expect(PolicyProblem(id: "i", at: .root, message: "m", help: "h").description == "i: m; h")
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
