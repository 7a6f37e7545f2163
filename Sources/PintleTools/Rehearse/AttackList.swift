internal import Pintle
internal import PintleTestKit

/// The catalogue of attacks, as text for people and as JSON for scripts.
struct AttackList {
    private let catalogue: AttackCatalogue
    private let attacks: [Attack]

    init(_ catalogue: AttackCatalogue, _ attacks: [Attack]) {
        (self.catalogue, self.attacks) = (catalogue, attacks)
    }

    func write(to console: Console, asJSON: Bool) {
        if asJSON { console.print(document) } else { for line in lines(console.width) { console.print(line) } }
    }

    private func lines(_ width: Int) -> [String] {
        var lines: [String] = []
        var group: AttackGroup?
        for attack in [catalogue.control] + attacks {
            if let next = attack.group, next != group {
                group = next
                lines += ["", "group \(next.rawValue)"]
            }
            lines.append(
                TextLayout.padded(attack.id, to: 30) + "must be \(attack.expectation.rawValue)   \(attack.reference)")
            lines += TextLayout.wrapped("\(attack.summary): \(attack.stake)", width: width - 4).map { "    " + $0 }
            let entries = attack.standards.entries.map(\.id)
            if !entries.isEmpty { lines.append("    " + entries.joined(separator: ", ")) }
        }
        lines.append("")
        for omission in AttackCatalogue.omissions {
            lines.append(TextLayout.padded(omission.id, to: 37) + "never run here")
            lines.append("    \(omission.reason)")
        }
        return lines
    }

    /// An array of `{id, expected, reference, summary, why, group, cwe, owasp}`.
    private var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for attack in [catalogue.control] + attacks {
                json.object { json in
                    json.member("id", attack.id)
                    json.member("expected", attack.expectation.rawValue)
                    json.member("reference", attack.reference)
                    json.member("summary", attack.summary)
                    json.member("why", attack.stake)
                    json.member("group", attack.group?.rawValue)
                    attack.standards.write(to: &json)
                }
            }
        }
        return json
    }
}

extension AttackStandards {
    /// Writes the members `cwe` and `owasp`, arrays of ids.
    func write(to json: inout JSONWriter) {
        json.member("cwe", cwe.map(\.id))
        json.member("owasp", owasp.map(\.id))
    }
}
