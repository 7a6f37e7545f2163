internal import Pintle

/// The names of a rule and its pins for people: the notes of the policy in quotes, because anything may stand in them,
/// and the names of known roots without.
struct RuleNotes {
    /// The note of the rule.
    private(set) var rule: String?
    private var pins: [Pin: String] = [:]

    /// - Parameter families: names the roots.
    init(_ policy: PinningPolicy, rule index: Int, _ families: AuthorityFamilies? = nil) {
        let (host, place) = (policy.hosts[index], PolicyPath.rule(index))
        rule = policy.notes[place]
        for (list, listed) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in listed.enumerated() {
                let note = policy.notes[place[list][position]].map { "\"\(SafeText.escape($0))\"" }
                let names = [families?.rootName(of: pin).map { SafeText.escape($0) }, note].compactMap(\.self)
                pins[pin] = names.isEmpty ? nil : names.joined(separator: ", ")
            }
        }
    }

    /// The name of the root, and the note.
    subscript(pin: Pin) -> String? { pins[pin] }
}
