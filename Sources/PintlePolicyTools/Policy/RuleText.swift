package import Pintle
internal import PintleConsole
package import PintlePolicyLint
internal import PintleStorage
package import PintleSystem
internal import PintleText

/// A rule of a policy in words.
package enum RuleText {
    /// `enforced; pins expire 2027-11-20, then system trust`
    package static func terms(of host: PinnedHost, now: Date) -> String {
        guard !host.pins.isEmpty else { return "nothing pinned; only the path decides" }
        return [enforcement(of: host), expiry(host.expiry, now: now)].compactMap(\.self).joined(separator: "; ")
    }

    /// `example.com, exact`; `example.com, which covers sub-domains`
    package static func match(_ choice: MatchedRule) -> String {
        "\(choice.pattern), " + (choice.isExact ? "exact" : "which covers its sub-domains")
    }

    /// Returns what `inspect` prints of a term about the path; `nil` if the rule does not have it.
    static func field(for term: PathTerm, of host: PinnedHost) -> (label: String, value: String)? {
        switch term {
        case .minimumPathLength:
            host.minimumPathLength.map {
                ("path", ValidityText.counted($0, "certificate") + " or more, leaf and anchor counted")
            }
        case .issuerKey: host.issuerKey.map { ("issuer", "\($0), of the certificate above the leaf") }
        }
    }

    /// Returns the change of a term about the path; `nil` if both rules have the same.
    static func change(of term: PathTerm, from old: PinnedHost, to new: PinnedHost) -> String? {
        switch term {
        case .minimumPathLength:
            guard old.minimumPathLength != new.minimumPathLength else { return nil }
            return new.minimumPathLength.map { "now paths of \($0) certificates" } ?? "now paths of any length"
        case .issuerKey:
            guard old.issuerKey != new.issuerKey else { return nil }
            return new.issuerKey == nil ? "now any issuer" : "another issuer key"
        }
    }

    static func enforcement(of host: PinnedHost) -> String {
        switch host.enforcement {
        case .enforce: "enforced"
        case .reportOnly: "reported only"
        }
    }

    private static func expiry(_ expiry: PinExpiry, now: Date) -> String? {
        guard let date = expiry.date else { return nil }
        let verb = now < date ? "pins expire" : "pins expired"
        let then = if case .rejecting = expiry { "then every connection is refused" } else { "then system trust" }
        return "\(verb) \(ValidityText.day(date)), \(then)"
    }

    /// Returns the pin with its position and with what ``RuleNotes`` says of it.
    package static func pin(_ pin: Pin, note: String? = nil) -> String {
        let kind = pin.key == nil ? "certificate " : ""
        let position = pin.position == .any ? "" : "  at \(pin.position.rawValue)"
        return kind + pin.description + position + (note.map { "  (\($0))" } ?? "")
    }
}

/// The names of a rule and its pins for people: the notes of the policy in quotes, because anything may stand in them,
/// and the names of known roots without.
package struct RuleNotes {
    /// The note of the rule.
    package private(set) var rule: String?
    private var pins: [Pin: String] = [:]

    /// - Parameter families: names the roots.
    package init(_ policy: PinningPolicy, rule index: Int, _ families: AuthorityFamilies? = nil) {
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
    package subscript(pin: Pin) -> String? { pins[pin] }
}
