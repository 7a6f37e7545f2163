internal import Pintle

/// The names of a rule and its pins for people: the notes of the policy, or else the names of authorities.
struct RuleNotes {
    /// The note of the rule.
    private(set) var rule: String?
    private var pins: [Pin: String] = [:]

    /// - Parameter families: names the roots that have no note.
    init(_ policy: PinningPolicy, rule index: Int, _ families: AuthorityFamilies? = nil) {
        let (host, place) = (policy.hosts[index], PolicyPath.rule(index))
        rule = policy.notes[place]
        for (list, listed) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in listed.enumerated() {
                pins[pin] = policy.notes[place[list][position]] ?? families?.rootName(of: pin)
            }
        }
    }

    subscript(pin: Pin) -> String? { pins[pin] }
}
