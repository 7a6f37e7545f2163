internal import Pintle

/// The order of rules by their domains.
struct ExportRelations {
    private let rules: [ExportRule]
    private let places: [ServerName: Int]
    private let traits: FormatTraits

    init(_ rules: [ExportRule], _ traits: FormatTraits) {
        self.rules = rules
        self.traits = traits
        places = Dictionary(rules.enumerated().map { ($1.host, $0) }) { first, _ in first }
    }

    /// Returns the rules with pins that would apply to the host if it had none of its own, nearest first.
    func parents(of rule: ExportRule) -> [ExportRule] {
        guard traits.subdomains != .none else { return [] }
        var labels = rule.host.labels[...]
        var found: [ExportRule] = []
        while labels.count > 1 {
            labels = labels.dropFirst()
            guard let name = try? ServerName(labels.joined(separator: ".")), let place = places[name] else { continue }
            let parent = rules[place]
            if parent.isPinned, parent.includesSubdomains { found.append(parent) }
            if traits.subdomains == .oneLabel { break }
        }
        return found
    }
}
