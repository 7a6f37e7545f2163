internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleTestKit
internal import PintleText

/// The catalogue of attacks, as text for people and as JSON for scripts.
struct ScenarioList {
    private let scenarios: [Scenario]

    init(_ host: AttackedHost) {
        scenarios = [host.catalogue.control] + host.scenarios
    }

    func write(to console: Console, asJSON: Bool) {
        if asJSON { console.print(document) } else { for line in lines(console.width) { console.print(line) } }
    }

    private func lines(_ width: Int) -> [String] {
        var lines: [String] = []
        var group: Scenario.Group?
        for scenario in scenarios {
            if let next = scenario.group, next != group {
                group = next
                lines += ["", "group \(next.rawValue)"]
            }
            lines.append(
                TextLayout.padded(scenario.id, to: 30)
                    + "must be \(scenario.expectation.rawValue)   \(scenario.reference)")
            lines += TextLayout.wrapped("\(scenario.summary): \(scenario.impact)", width: width - 4).map { "    " + $0 }
            let entries = scenario.standards.entries.map(\.id)
            if !entries.isEmpty { lines.append("    " + entries.joined(separator: ", ")) }
        }
        lines.append("")
        for omission in Catalogue.omissions {
            lines.append(TextLayout.padded(omission.id, to: 37) + "never run here")
            lines.append("    \(omission.reason)")
        }
        return lines
    }

    private var document: JSONWriter { .document(listing: scenarios) { $0.write(Scenario.facts, of: $1) } }
}

/// The attacks of `--only` and `--group`.
struct ScenarioChoice {
    private let only: [String]
    private let groups: [String]
    private let isMade: Bool

    init(_ arguments: ParsedArguments) {
        func words(_ option: Option<[String]>) -> [String] {
            arguments[option].flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " } }
        }
        (only, groups) = (words(.only), words(.group))
        isMade = arguments.has(.only) || arguments.has(.group)
    }

    /// Returns the attacks that were named, by themselves or by their group, in the catalogue's order. Without either
    /// option it returns all attacks.
    func scenarios(of catalogue: Catalogue) throws(ToolError) -> [Scenario] {
        guard isMade else { return catalogue.scenarios }
        for id in only where catalogue[id] == nil {
            throw Self.unknown("attack", id, among: catalogue.scenarios.map(\.id))
        }
        for name in groups where Scenario.Group(rawValue: name) == nil {
            throw Self.unknown("group", name, among: Scenario.Group.allCases.map(\.rawValue))
        }
        guard !only.isEmpty || !groups.isEmpty else {
            throw .usage("--only and --group name no attack", of: .rehearse)
        }
        return catalogue.scenarios.filter(isChosen)
    }

    /// Returns the ids of the attacks that the options leave out.
    func left(of catalogue: Catalogue) -> [String] {
        catalogue.scenarios.filter { isMade && !isChosen($0) }.map(\.id)
    }

    private func isChosen(_ scenario: Scenario) -> Bool {
        only.contains(scenario.id) || scenario.group.map { groups.contains($0.rawValue) } ?? false
    }

    private static func unknown(_ kind: String, _ name: String, among names: [String]) -> ToolError {
        let meant = Spelling.suggestion(for: name, among: names)
        return .unusable(
            "unknown-\(kind)", "no \(kind) is called \"\(name)\"\(meant)", hint: "see 'pintle rehearse --list'")
    }
}
