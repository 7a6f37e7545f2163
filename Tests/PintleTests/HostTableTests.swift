import Testing

@testable import Pintle

@Suite("Host table")
struct HostTableTests {
    typealias Rule = HostTableReference.Rule

    @Test("A parent domain's rule covers every depth below it, and the domain itself")
    func subdomains() {
        let rules = [Rule("example.com", subdomains: true)]
        #expect(look(up: "example.com", in: rules) == .init(rule: 0, isExact: true))
        #expect(look(up: "a.example.com", in: rules) == .init(rule: 0, isExact: false))
        #expect(look(up: "c.b.a.example.com", in: rules) == .init(rule: 0, isExact: false))
    }

    @Test("A rule without its sub-domains covers only its host")
    func withoutSubdomains() {
        let rules = [Rule("a.example.com")]
        #expect(look(up: "a.example.com", in: rules) != nil)
        #expect(look(up: "b.a.example.com", in: rules) == nil)
        #expect(look(up: "example.com", in: rules) == nil)
    }

    @Test("A name that only ends in the same letters is another name", arguments: [true, false])
    func labelBoundary(subdomains: Bool) {
        let rules = [Rule("example.com", subdomains: subdomains)]
        #expect(look(up: "evilexample.com", in: rules) == nil)
        #expect(look(up: "evil-example.com", in: rules) == nil)
        #expect(look(up: "example.com.evil.net", in: rules) == nil)
        #expect(look(up: ".example.com", in: rules) == nil)
        #expect((look(up: "evil.example.com", in: rules) != nil) == subdomains)
    }

    @Test("A rule's port comes before an exact host, and that before the longer parent domain")
    func order() {
        var rules = [
            Rule("com", subdomains: true), Rule("example.com", subdomains: true),
            Rule("api.example.com", subdomains: true), Rule("com", port: 8443, subdomains: true),
            Rule("example.com", port: 8443, subdomains: true), Rule("api.example.com", port: 8443),
        ]
        for expected in [5, 4, 3, 2, 1, 0] {
            #expect(look(up: "api.example.com", port: 8443, in: rules)?.rule == expected)
            rules.removeLast()
        }
    }

    @Test("The order in which rules are added does not matter")
    func orderOfRules() {
        let rules = [Rule("example.com", subdomains: true), Rule("api.example.com")]
        #expect(look(up: "api.example.com", in: rules)?.rule == 1)
        #expect(look(up: "api.example.com", in: rules.reversed())?.rule == 0)
    }

    @Test("A rule for another port does not count")
    func otherPort() {
        let rules = [Rule("example.com", port: 8443, subdomains: true)]
        #expect(look(up: "example.com", port: 443, in: rules) == nil)
        #expect(look(up: "a.example.com", port: 443, in: rules) == nil)
        #expect(look(up: "example.com", port: 8443, in: rules)?.rule == 0)
    }

    @Test("The dots of an address do not separate labels")
    func address() throws {
        let rules = [Rule("0.0.1", subdomains: true), Rule("127.0.0.1")]
        #expect(look(up: "127.0.0.1", isAddress: true, in: rules)?.rule == 1)
        #expect(look(up: "10.0.0.1", isAddress: true, in: rules) == nil)
        #expect(look(up: "10.0.0.1", isAddress: false, in: rules)?.rule == 0)
        // No policy can have the first of these rules. The table does not rely on that.
        let table = HostTableReference.table(rules).table
        #expect(table.match(ServerEndpoint(host: try ServerName("10.0.0.1"))) == nil)
        #expect(table.match(ServerEndpoint(host: try ServerName("127.0.0.1")))?.rule == 1)
    }

    @Test("A duplicate host and port is reported, and the first rule decides")
    func duplicates() {
        let rules = [
            Rule("example.com"), Rule("example.com", port: 443), Rule("example.com", subdomains: true),
            Rule("example.com", port: 443), Rule("example.org"),
        ]
        let (table, duplicates) = HostTableReference.table(rules)
        #expect(duplicates == [[0, 2], [1, 3]])
        #expect(HostTableReference.look(up: "example.com", port: 80, in: table)?.rule == 0)
        #expect(HostTableReference.table([rules[0], rules[1], rules[4]]).duplicates == [])
    }

    @Test("The longest name is found, also by the rule of a parent domain")
    func length() {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "b", count: 61))"
        let rules = [Rule(longest), Rule(String(repeating: "b", count: 61), subdomains: true)]
        #expect(longest.utf8.count == 253)
        #expect(look(up: longest, in: rules)?.isExact == true)
        #expect(look(up: "c" + longest.dropFirst(), in: rules) == .init(rule: 1, isExact: false))
    }

    @Test("An empty table and an empty name match nothing")
    func empty() {
        #expect(look(up: "example.com", in: []) == nil)
        #expect(look(up: "", in: [Rule("example.com", subdomains: true)]) == nil)
        #expect(look(up: ".", in: [Rule("example.com", subdomains: true)]) == nil)
    }

    private func look(
        up host: String, port: UInt16 = 443, isAddress: Bool = false, in rules: [Rule]
    ) -> HostTable.Match? {
        let table = HostTableReference.table(rules).table
        return HostTableReference.look(up: host, port: port, isAddress: isAddress, in: table)
    }
}
