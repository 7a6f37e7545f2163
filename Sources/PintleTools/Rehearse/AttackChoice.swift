internal import Pintle
internal import PintleTestKit

/// The attacks of `--only` and `--group`.
struct AttackChoice {
    private let only: [String]
    private let groups: [String]
    private let isMade: Bool

    init(_ arguments: ParsedArguments) {
        func words(_ option: OptionSpecification) -> [String] {
            arguments.values(of: option).flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " } }
        }
        (only, groups) = (words(.only), words(.group))
        isMade = arguments.has(.only) || arguments.has(.group)
    }

    /// Returns the attacks that were named, by themselves or by their group, in the catalogue's order. Without either option
    /// it returns all attacks.
    func attacks(of catalogue: AttackCatalogue) throws(ToolError) -> [Attack] {
        guard isMade else { return catalogue.attacks }
        for id in only where catalogue[id] == nil {
            throw Self.unknown("attack", id, among: catalogue.attacks.map(\.id))
        }
        for name in groups where AttackGroup(rawValue: name) == nil {
            throw Self.unknown("group", name, among: AttackGroup.allCases.map(\.rawValue))
        }
        guard !only.isEmpty || !groups.isEmpty else {
            throw .usage("--only and --group name no attack", of: .rehearse)
        }
        return catalogue.attacks.filter { attack in
            only.contains(attack.id) || attack.group.map { groups.contains($0.rawValue) } ?? false
        }
    }

    private static func unknown(_ kind: String, _ name: String, among names: [String]) -> ToolError {
        let meant = Spelling.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        return .unusable(
            "unknown-\(kind)", "no \(kind) is called \"\(name)\"\(meant)", hint: "see 'pintle rehearse --list'")
    }
}
