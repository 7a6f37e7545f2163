internal import Pintle
internal import PintleTestKit

/// The catalogue, for people and for scripts.
struct AttackList {
    private let catalogue: AttackCatalogue

    init(_ catalogue: AttackCatalogue) {
        self.catalogue = catalogue
    }

    func write(to console: Console, asJSON: Bool) {
        if asJSON { console.print(document) } else { for line in lines(console.width) { console.print(line) } }
    }

    private func lines(_ width: Int) -> [String] {
        var lines: [String] = []
        for attack in [catalogue.control] + catalogue.attacks {
            lines.append(
                TextLayout.padded(attack.id, to: 30) + "must be \(attack.expectation.rawValue)   \(attack.reference)")
            lines += TextLayout.wrapped("\(attack.summary): \(attack.stake)", width: width - 4).map { "    " + $0 }
        }
        for omission in AttackCatalogue.omissions {
            lines.append(TextLayout.padded(omission.id, to: 37) + "never run here")
            lines.append("    \(omission.reason)")
        }
        return lines
    }

    /// An array of `{id, expected, reference, summary, why}`.
    private var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for attack in [catalogue.control] + catalogue.attacks {
                json.object { json in
                    json.member("id", attack.id)
                    json.member("expected", attack.expectation.rawValue)
                    json.member("reference", attack.reference)
                    json.member("summary", attack.summary)
                    json.member("why", attack.stake)
                }
            }
        }
        return json
    }
}
