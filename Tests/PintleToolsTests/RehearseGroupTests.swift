import Pintle
import PintleAttacks
import PintlePolicyFile
import PintleTestKit
import Testing

/// The choice of attacks by group, and the ids of public lists.
@Suite("Rehearsal: groups and standards")
struct RehearseGroupTests {
    private func ids(_ options: [String]) throws -> [String] {
        let list = try #require(try ToolRun(arguments: ["rehearse", "--list", "--json"] + options).json().elements)
        return list.compactMap { $0["id"]?.string }
    }

    @Test("Groups and single attacks add up, in the order of the catalogue")
    func union() throws {
        let expected = ["control", "expired", "wrong-host", "other-hosts-certificate", "cn-only", "tls-1.0", "tls-1.1"]
        #expect(try ids(["--group", "transport, names", "--only", "expired,cn-only"]) == expected)
        #expect(try ids(["--group", "names", "--group", "transport", "--only", "expired"]) == expected)
        #expect(try ids(["--group", "path,pins,names,transport,redirect,hold"]) == ids([]))
    }

    @Test("A run with a group runs only its attacks")
    func run() throws {
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--group", "transport", "--"] + RehearseTests.curl
                + ["{url}"])
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        let outcomes = try RehearseTests.outcomes(run).filter { !RehearseTests.neverRun.contains($0.key) }
        #expect(outcomes == ["control": "accepted", "tls-1.0": "blocked", "tls-1.1": "blocked"])
        let groups = try #require(try run.json().elements).map { $0["group"]?.string }
        #expect(groups.prefix(3) == [nil, "transport", "transport"])
    }

    @Test("A group or attack that does not exist is an error, with the nearest name")
    func unknown() throws {
        for (options, message) in [
            (["--group", "pin"], "no group is called \"pin\"; did you mean pins?"),
            (["--group", "hold,expired"], "no group is called \"expired\""),
            (["--group", "hold", "--only", "expird"], "no attack is called \"expird\"; did you mean expired?"),
        ] {
            let run = ToolRun(arguments: ["rehearse", "--list"] + options)
            #expect(run.code == 2)
            #expect(run.errors.contains(message), "\(run.errors)")
        }
    }

    @Test("The list has a heading for each group, and the ids of public lists below each attack")
    func list() throws {
        let lines = ToolRun("rehearse", "--list").lines
        let groups = lines.filter { $0.hasPrefix("group ") }.map { $0.dropFirst("group ".count) }
        #expect(groups == ["path", "pins", "names", "transport", "redirect", "hold"])
        #expect(lines.contains("    CWE-297, CWE-295, MASVS-NETWORK-1, MASWE-0027, MASTG-TEST-0283"))
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test("Each attack has a group, and each that a client must not fall for has a CWE entry")
    func standards() throws {
        let catalogue = try Catalogue()
        #expect(catalogue.control.group == nil && catalogue.control.standards.entries.isEmpty)
        #expect(Set(catalogue.scenarios.compactMap(\.group)) == Set(Scenario.Group.allCases))
        for attack in catalogue.scenarios {
            let standards = attack.standards
            #expect(attack.group != nil, "\(attack.id)")
            #expect(standards.cwe.isEmpty == (attack.expectation == .accepted), "\(attack.id)")
            #expect(standards.owasp.isEmpty == (attack.group == .hold), "\(attack.id)")
            #expect(standards.cwe.allSatisfy { $0.list == .cwe && $0.id.wholeMatch(of: /CWE-[0-9]+/) != nil })
            for entry in standards.owasp {
                let form = /MASVS-[A-Z]+-[0-9]|MASWE-[0-9]{4}|MASTG-TEST-[0-9]{4}/
                #expect(entry.list != .cwe && entry.id.wholeMatch(of: form) != nil, "\(entry.id)")
            }
        }
        let titles = Dictionary(grouping: catalogue.scenarios.flatMap(\.standards.entries), by: \.id)
        #expect(titles.values.allSatisfy { Set($0).count == 1 })
    }
}
