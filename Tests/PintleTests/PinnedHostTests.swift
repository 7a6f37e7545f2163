import Testing

@testable import Pintle

/// Hosts that no connection can have, which a rule must not name.
@Suite("Hosts of rules that would cover no server")
struct UnusableHostTests {
    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="

    @Test(
        "A rule for another spelling of an address, or for a group of hosts, is refused with what to write",
        arguments: [
            ("::ffff:192.0.2.1", "write 192.0.2.1", "192.0.2.1"),
            ("[::ffff:c000:201]", "write 192.0.2.1", "::c000:201"),
            ("0.0.0.0", "write 127.0.0.1 or [::1]", "0.0.0.1"), ("::", "write 127.0.0.1 or [::1]", "::1"),
            ("::ffff:0.0.0.0", "write 127.0.0.1 or [::1]", "127.0.0.1"),
            ("224.0.0.1", "write the address of the server", "223.255.255.255"),
            ("255.255.255.255", "write the address of the server", "255.255.255.254"),
            ("ff02::1", "write the address of the server", "fd00::1"),
        ])
    func refused(host: String, help: String, twin: String) throws {
        let error = #expect(throws: PolicyError.self) {
            try PinnedHost(host, pins: [Self.pin], backup: .noneAccepted)
        }
        #expect(error?.problems.map { "\($0.id) \($0.path)" } == ["invalid-host host"])
        #expect(error?.problems.first?.help.hasPrefix(help) == true, "\(error as Any)")
        _ = try PinnedHost(twin, pins: [Self.pin], backup: .noneAccepted)
    }

    @Test("Reports to another spelling of an address are refused, because a rule may cover that address")
    func reports() throws {
        func policy(_ url: String) throws -> PinningPolicy {
            try PinningPolicy(hosts: [
                try PinnedHost("192.0.2.1", pins: [Self.pin], backup: .noneAccepted, reportTo: [url])
            ])
        }
        func ids(_ url: String) -> [String] {
            do { _ = try policy(url) } catch { return (error as? PolicyError)?.problems.map(\.id) ?? ["\(error)"] }
            return []
        }
        #expect(ids("https://[::ffff:192.0.2.1]/pins") == ["invalid-report-url"])
        #expect(ids("https://192.0.2.1/pins") == ["report-host-covered"])
        #expect(ids("https://192.0.2.2/pins") == [])
    }
}

@Suite("Rules for a host")
struct PinnedHostTests {
    static let chain = TestChain()
    static let live = chain.keyPin(0)
    static let spare = TestChain.spare()
    static let text = live.description
    static let spareText = spare.description

    /// Returns the ids and places of a rule's problems.
    private static func problems(_ make: () throws(PolicyError) -> PinnedHost) -> [String] {
        do throws(PolicyError) {
            _ = try make()
            return []
        } catch {
            for problem in error.problems {
                #expect(!problem.message.isEmpty && !problem.help.isEmpty && problem.line == nil)
            }
            return error.problems.map { "\($0.id) \($0.path)" }
        }
    }

    @Test("A rule keeps the values that it was created with")
    func fields() throws {
        let host = try PinnedHost(
            "API.example.com.", port: 8443, includingSubdomains: true, pins: [Self.text], backupPins: [Self.spareText],
            enforcement: .reportOnly, reportTo: ["https://reports.example.net/"])
        #expect(host.host.description == "api.example.com")
        #expect(host.description == "api.example.com:8443")
        #expect(host.pins == [Self.live])
        #expect(host.backupPins == [Self.spare])
        #expect(host.includesSubdomains)
        #expect(host.requires == .anyPin)
        #expect(host.expiry == .never)
        #expect(host.expiry.date == nil)
        #expect(host.anchors == .system)
        #expect(try PinnedHost("::1", port: 443, pins: [Pin]()).description == "[::1]:443")
    }

    @Test("Enforced pins need a backup, unless the author accepts the risk or the rule only reports")
    func backupRule() {
        let none: [String] = []
        #expect(
            Self.problems { () throws(PolicyError) in try PinnedHost("a.example", pins: [Self.text]) }
                == ["no-backup-pin backupPins"])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: [Self.text], backupPins: [Self.spareText])
            } == [])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: [Self.text], backup: .noneAccepted)
            } == [])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: [Self.text], enforcement: .reportOnly)
            } == [])
        #expect(Self.problems { () throws(PolicyError) in try PinnedHost("a.example", pins: none) } == [])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: none, backupPins: [Self.spareText])
            } == ["backup-without-pin pins"])
    }

    @Test("The remedy for a rule without a backup counts its pins, and that for a repeated pin tells a backup apart")
    func remedies() throws {
        func problem(_ pins: [Pin], _ backups: [Pin] = []) throws -> PolicyProblem {
            var rule = PinnedHost(unchecked: try ServerName("a.example"))
            (rule.pins, rule.backupPins) = (pins, backups)
            return try #require(rule.problems.first)
        }
        let one = try problem([Self.live])
        #expect(one.message == "a.example enforces one pin and has no backup" && !one.help.contains("move one"))
        let two = try problem([Self.live, Self.chain.keyPin(1)])
        #expect(two.message == "a.example enforces 2 pins and has no backup" && two.help.contains("move one of them"))
        #expect(try problem([Self.live, Self.live], [Self.spare]).help == "remove one")
        #expect(try problem([Self.live], [Self.live]).help == "a backup is another key than the one in use")
    }

    @Test("An address with sub-domains and private anchors has one problem")
    func addressAnchors() throws {
        var rule = PinnedHost(unchecked: try ServerName("::1"))
        (rule.includesSubdomains, rule.anchors) = (true, .only([try UnsignedCertificate().read()]))
        #expect(rule.problems.map(\.id) == ["address-with-subdomains"])
        rule.host = try ServerName("example")
        #expect(rule.problems.map(\.id) == ["anchors-too-broad"])
    }

    @Test("A pin may occur only once in a rule, even as a backup")
    func duplicates() {
        func problems(_ pins: [Pin], _ backups: [Pin]) -> [String] {
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: pins, backupPins: backups)
            }
        }
        #expect(problems([Self.live, Self.live], [Self.spare]) == ["duplicate-pin pins[1]"])
        #expect(problems([Self.live], [Self.spare, Self.spare]) == ["duplicate-pin backupPins[1]"])
        #expect(problems([Self.live], [Self.live]) == ["duplicate-pin backupPins[0]"])
        // The same key at another position is no real backup either, but only lint reports that.
        #expect(problems([Self.live], [Self.chain.keyPin(0, .leaf)]) == [])
        #expect(problems([Self.live, Self.chain.certificatePin(0)], [Self.spare]) == [])
    }

    @Test("Two spellings of one pin are one pin")
    func spellings() {
        let other = Self.text.replacingText("sha256/", with: "sha256//")
        let problems = Self.problems { () throws(PolicyError) in
            try PinnedHost("a.example", pins: [Self.text, other], backupPins: [Self.spareText])
        }
        #expect(problems == ["duplicate-pin pins[1]"])
    }

    @Test("Parsed pins may stand beside backup pins as text")
    func parsedPinsAndTextBackups() throws {
        let both = try PinnedHost("a.example", pins: [Self.live], backupPins: [Self.spareText])
        let parsed = try PinnedHost("a.example", pins: [Self.live], backupPins: [Self.spare])
        #expect(both == parsed)
        #expect(try PinnedHost("a.example", pins: [Self.text], backupPins: [Self.spareText]) == parsed)
        let literal = try PinnedHost(
            "a.example", pins: [Self.live], backupPins: ["sha256/AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="])
        #expect(literal.backupPins.count == 1)
        // An empty literal stays unambiguous.
        #expect(try PinnedHost("a.example", pins: [Self.live], backupPins: [], backup: .noneAccepted).backupPins == [])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", port: 0, pins: [Self.live], backupPins: ["sha256/AAAA", Self.text])
            } == ["wrong-pin-length backupPins[0]", "invalid-port port", "duplicate-pin backupPins[1]"])
    }

    @Test("A list of pins may hold text and parsed pins, and a mistake keeps its place")
    func mixedPins() throws {
        let key = try PublicKeyPin(Self.text)
        let certificate = try CertificatePin(String(repeating: "0a", count: 32))
        let mixed = try PinnedHost(
            "a.example", pins: [Self.text, .publicKey(Self.spareText, at: .ca), certificate],
            backupPins: [Self.spareText.dropFirst(0)], issuerKey: Self.text)
        let placed = try Pin.publicKey(Self.spareText, at: .ca)
        #expect(mixed.pins == [Pin(.publicKey(key)), placed, Pin(.certificate(certificate))])
        #expect(mixed.backupPins == [Self.spare] && mixed.issuerKey == key)
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost(
                    "a.example", pins: [key, "??"], backupPins: [Self.spare, "sha1/AAAA"], issuerKey: "sha256/AAAA")
            } == ["invalid-pin pins[1]", "wrong-pin-length issuerKey", "unsupported-hash backupPins[1]"])
        #expect(
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: [key], backupPins: [Self.spare], issuerKey: certificate)
            } == ["invalid-pin issuerKey"])
    }

    @Test("leafAndCA requires that every pin has a position and that both positions occur")
    func leafAndCA() {
        func problems(_ pins: [Pin], _ backups: [Pin] = [TestChain.spare(0, .leaf)]) -> [String] {
            Self.problems { () throws(PolicyError) in
                try PinnedHost("a.example", pins: pins, backupPins: backups, requires: .leafAndCA)
            }
        }
        let leaf = Self.chain.keyPin(0, .leaf)
        let authority = Self.chain.keyPin(1, .ca)
        #expect(problems([leaf, authority]) == [])
        #expect(problems([leaf, Self.chain.keyPin(1)]) == ["pin-without-position requires"])
        #expect(problems([leaf, authority], [Self.spare]) == ["pin-without-position requires"])
        #expect(problems([leaf]) == ["leaf-and-ca-incomplete requires"])
        #expect(problems([authority]) == ["leaf-and-ca-incomplete requires"])
        #expect(problems([], []) == ["leaf-and-ca-incomplete requires"])
    }

    @Test("An address must not have sub-domains, and a port must not be 0")
    func hostAndPort() {
        func problems(_ host: String, _ port: UInt16?, _ subdomains: Bool) -> [String] {
            Self.problems { () throws(PolicyError) in
                try PinnedHost(host, port: port, includingSubdomains: subdomains, pins: [Pin]())
            }
        }
        #expect(problems("192.0.2.1", 1, false) == [])
        #expect(problems("192.0.2.1", nil, true) == ["address-with-subdomains includeSubdomains"])
        #expect(problems("::1", 0, true) == ["address-with-subdomains includeSubdomains", "invalid-port port"])
        #expect(problems("a.example", 0, true) == ["invalid-port port"])
    }

    @Test("Private anchors for everything under a single label are refused, and so are empty anchors")
    func anchors() throws {
        let anchors = TrustAnchors.only([try UnsignedCertificate().read()])
        func problems(_ host: String, _ anchors: TrustAnchors, _ subdomains: Bool) -> [String] {
            Self.problems { () throws(PolicyError) in
                try PinnedHost(host, includingSubdomains: subdomains, pins: [Pin](), anchors: anchors)
            }
        }
        #expect(problems("internal", anchors, true) == ["anchors-too-broad anchors"])
        #expect(problems("internal.", anchors, true) == ["anchors-too-broad anchors"])
        #expect(problems("internal", anchors, false) == [])
        #expect(problems("corp.internal", anchors, true) == [])
        #expect(problems("internal", .system, true) == [])
        #expect(problems("a.example", .only([]), false) == ["no-anchors anchors"])
    }

    @Test("A rule reports all of its problems at once")
    func allAtOnce() {
        let problems = Self.problems { () throws(PolicyError) in
            try PinnedHost(
                "internal", port: 0, includingSubdomains: true, pins: [Self.text, "??", Self.text, "sha1/AAAA"],
                anchors: .only([]))
        }
        #expect(
            problems == [
                "invalid-pin pins[1]", "unsupported-hash pins[3]", "invalid-port port", "no-backup-pin backupPins",
                "duplicate-pin pins[2]", "no-anchors anchors",
            ])
        let host = Self.problems { () throws(PolicyError) in try PinnedHost("*.a.example", pins: ["??"]) }
        #expect(host == ["invalid-pin pins[0]", "invalid-host host"])
    }

    @Test("A pin that cannot be read is one problem, without follow-up problems")
    func unreadablePins() {
        let error = #expect(throws: PolicyError.self) {
            try PinnedHost("example.com", pins: ["garbage"], backupPins: ["rubbish"])
        }
        #expect(error?.problems.map(\.path) == ["pins[0]", "backupPins[0]"])
        #expect(error?.problems.allSatisfy { $0.message.contains(", in the rule for ") } == true)
        #expect(error?.problems.map(\.id) == ["invalid-pin", "invalid-pin"])
    }
}
