internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile

/// A policy from a foreign file: rules with their places, and the losses.
struct ImportDraft {
    private(set) var rules: [PinnedHost] = []
    private var places: [TextPlace] = []
    private(set) var losses = LossList()

    mutating func lose(
        _ kind: PolicyLoss.Kind, _ effect: PolicyLoss.Effect, _ message: String, _ rule: String? = nil
    ) {
        losses.add(kind, effect, message, rule)
    }

    /// Adds the rule of a foreign entry. The formats do not distinguish backups from pins in use, so it has no backups.
    mutating func add(_ rule: PinnedHost, at place: TextPlace) {
        var rule = rule
        var seen: Set<Pin> = []
        rule.pins.removeAll { !seen.insert($0).inserted }
        if !rule.pins.isEmpty {
            rule.backupRequirement = .noneAccepted
            lose(
                .backups, .other, "no pin is marked as a backup: move those not in use to backupPins", rule.description)
        }
        rules.append(rule)
        places.append(place)
    }

    /// - Throws: the problem of the rules taken together, at the place of the rule.
    func policy() throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(hosts: rules)
        } catch {
            guard let problem = error.problems.first else {
                throw .unusable("invalid-policy", "the rules contradict one another", at: nil)
            }
            let place = problem.place.ruleIndex.flatMap { places.indices.contains($0) ? places[$0] : nil }
            // The messages and remedies of these problems are about a policy file.
            switch problem.id {
            case "duplicate-rule":
                let host = problem.place.ruleIndex.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
                throw .unusable(
                    problem.id, "the file has \(host.map { "\($0)" } ?? "a host") twice", at: place,
                    hint: "join the two entries")
            case "address-with-subdomains":
                throw .unusable(
                    problem.id, problem.message, at: place, hint: "do not include the sub-domains of an address")
            default: throw .unusable(problem.id, problem.message, at: place, hint: problem.help)
            }
        }
    }
}

/// Files that a foreign file names.
struct ForeignFolder {
    /// Returns the content of a file, or `nil` if it does not exist.
    let read: (_ path: String) -> [UInt8]?

    /// A source without files.
    static var none: ForeignFolder { ForeignFolder { _ in nil } }
}
