import Testing

@testable import Pintle

@Suite("Host table")
struct HostTableTests {
    typealias Rule = HostTableReference.Rule

    @Test("A parent domain's rule covers every depth below it, and the domain itself")
    func subdomains() throws {
        let rules = [Rule("example.com", subdomains: true)]
        #expect(try look(up: "example.com", in: rules) == .init(rule: 0, isExact: true))
        #expect(try look(up: "a.example.com", in: rules) == .init(rule: 0, isExact: false))
        #expect(try look(up: "c.b.a.example.com", in: rules) == .init(rule: 0, isExact: false))
    }

    @Test("A rule without its sub-domains covers only its host")
    func withoutSubdomains() throws {
        let rules = [Rule("a.example.com")]
        #expect(try look(up: "a.example.com", in: rules) != nil)
        #expect(try look(up: "b.a.example.com", in: rules) == nil)
        #expect(try look(up: "example.com", in: rules) == nil)
    }

    @Test("A name that only ends in the same letters is another name", arguments: [true, false])
    func labelBoundary(subdomains: Bool) throws {
        let rules = [Rule("example.com", subdomains: subdomains)]
        #expect(try look(up: "evilexample.com", in: rules) == nil)
        #expect(try look(up: "evil-example.com", in: rules) == nil)
        #expect(try look(up: "example.com.evil.net", in: rules) == nil)
        #expect(try look(up: ".example.com", in: rules) == nil)
        #expect((try look(up: "evil.example.com", in: rules) != nil) == subdomains)
    }

    @Test("A rule's port comes before an exact host, and that before the longer parent domain")
    func order() throws {
        var rules = [
            Rule("com", subdomains: true), Rule("example.com", subdomains: true),
            Rule("api.example.com", subdomains: true), Rule("com", port: 8443, subdomains: true),
            Rule("example.com", port: 8443, subdomains: true), Rule("api.example.com", port: 8443),
        ]
        for expected in [5, 4, 3, 2, 1, 0] {
            #expect(try look(up: "api.example.com", port: 8443, in: rules)?.rule == expected)
            rules.removeLast()
        }
    }

    @Test("The order in which rules are added does not matter")
    func orderOfRules() throws {
        let rules = [Rule("example.com", subdomains: true), Rule("api.example.com")]
        #expect(try look(up: "api.example.com", in: rules)?.rule == 1)
        #expect(try look(up: "api.example.com", in: rules.reversed())?.rule == 0)
    }

    @Test("A rule for another port does not count")
    func otherPort() throws {
        let rules = [Rule("example.com", port: 8443, subdomains: true)]
        #expect(try look(up: "example.com", port: 443, in: rules) == nil)
        #expect(try look(up: "a.example.com", port: 443, in: rules) == nil)
        #expect(try look(up: "example.com", port: 8443, in: rules)?.rule == 0)
    }

    @Test("The dots of an address do not separate labels")
    func address() throws {
        let rules = [Rule("0.0.1", subdomains: true), Rule("127.0.0.1")]
        #expect(try look(up: "127.0.0.1", isAddress: true, in: rules)?.rule == 1)
        #expect(try look(up: "10.0.0.1", isAddress: true, in: rules) == nil)
        #expect(try look(up: "10.0.0.1", isAddress: false, in: rules)?.rule == 0)
    }

    @Test("A duplicate host and port is reported, and the first rule decides")
    func duplicates() throws {
        let rules = [
            Rule("example.com"), Rule("example.com", port: 443), Rule("example.com", subdomains: true),
            Rule("example.com", port: 443), Rule("example.org"),
        ]
        let (table, duplicates) = try HostTableReference.table(rules)
        #expect(duplicates == [.init(first: 0, second: 2), .init(first: 1, second: 3)])
        #expect(HostTableReference.look(up: "example.com", port: 80, in: table)?.rule == 0)
        #expect(try HostTableReference.table([rules[0], rules[1], rules[4]]).duplicates == [])
    }

    @Test("A name may have 253 bytes, but not 254")
    func length() throws {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "b", count: 61))"
        let rules = [Rule(longest), Rule(String(repeating: "b", count: 61), subdomains: true)]
        #expect(longest.utf8.count == 253)
        #expect(try look(up: longest, in: rules)?.isExact == true)
        #expect(try look(up: "a" + longest, in: rules) == nil)
        #expect(throws: HostTableBuilder.Refusal.length(254)) { try HostTableReference.table([Rule("a" + longest)]) }
        #expect(throws: HostTableBuilder.Refusal.length(0)) { try HostTableReference.table([Rule("")]) }
    }

    @Test("An empty table and an empty name match nothing")
    func empty() throws {
        #expect(try look(up: "example.com", in: []) == nil)
        #expect(try look(up: "", in: [Rule("example.com", subdomains: true)]) == nil)
        #expect(try look(up: ".", in: [Rule("example.com", subdomains: true)]) == nil)
    }

    @Test("A table of a hundred thousand rules takes at most 60 bytes a rule")
    func size() throws {
        var builder = HostTableBuilder()
        for index in 0..<100_000 {
            let host = Array("host-\(100_000 + index).example.com".utf8)
            try builder.add(host: host.elementSpan, port: nil, includesSubdomains: true)
        }
        #expect(builder.build().table.byteCount <= 60 * 100_000)
    }

    private func look(
        up host: String, port: UInt16 = 443, isAddress: Bool = false, in rules: [Rule]
    ) throws -> HostTable.Match? {
        let table = try HostTableReference.table(rules).table
        return HostTableReference.look(up: host, port: port, isAddress: isAddress, in: table)
    }
}
