internal import Pintle
internal import PintlePolicyLint

/// A rule that stays right when a server's authority issues from another of its roots.
struct DurableRule {
    /// The server; `nil` if only an authority was named.
    let endpoint: ServerEndpoint?
    let authority: AuthorityFamilies.Selection
    /// The roots of the families on the server's validated path; empty if no server was asked.
    let seen: [PublicKeyPin]
    /// A Boolean value that indicates whether the user named the authority. Otherwise the server showed it.
    var isNamed = false

    var families: [AuthorityFamily] { authority.families }

    /// Returns the pins of all roots, those that were seen first.
    var pins: [PublicKeyPin] {
        let all = families.flatMap(\.pins)
        return all.filter(seen.contains) + all.filter { !seen.contains($0) }
    }

    /// Returns the rule to paste. A policy demands a backup beside the pins in use, so one root is the pin in use (the
    /// one that was seen) and the others are backups. Which of the two a root is has no effect on the decision.
    func snippet(for endpoint: ServerEndpoint) -> SnippetRule {
        let pins = pins.map { Pin(.publicKey($0), at: .ca) }
        let inUse = max(1, seen.count)
        var rule = SnippetRule(
            endpoint: endpoint, pins: Array(pins.prefix(inUse)), backupPins: Array(pins.dropFirst(inUse)))
        for root in families.flatMap(\.roots) {
            if let pin = root.pin, PolicyNotes.problem(of: root.name) == nil { rule.notes[pin] = root.name }
        }
        return rule
    }
}

/// The authority of a server that no family has.
struct UnknownAuthority {
    let endpoint: ServerEndpoint
    /// The end of the validated path.
    let root: Certificate
}
