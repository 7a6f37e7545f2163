internal import Pintle

/// The static pin list: hosts and pin sets, and the file that gives each key a name.
enum ChromiumExport {
    static let list = "transport_security_state_static_pins.json"
    static let keys = "transport_security_state_static.pins"

    static func files(_ rules: [ExportRule], writtenAt: Int) -> [ExportedFile] {
        var names: [PublicKeyPin: String] = [:]
        var order: [PublicKeyPin] = []
        for key in rules.flatMap(\.keys) where names[key] == nil {
            order.append(key)
            names[key] = "Key\(order.count)"
        }
        let sets = rules.grouped.enumerated().map { (name: "set\($0.offset + 1)", rules: $0.element) }
        let json = JSONWriter.document { json in
            json.objects("pinsets", sets) { json, set in
                json.member("name", set.name)
                json.member("static_spki_hashes", set.rules.first?.keys.compactMap { names[$0] })
                json.member("report_uri", set.rules.first?.reportTo.first)
            }
            let entries = sets.flatMap { set in set.rules.map { (set: set.name, rule: $0) } }
            json.objects("entries", entries) { json, entry in
                json.member("name", entry.rule.host.description)
                if entry.rule.includesSubdomains { json.member("include_subdomains", true) }
                json.member("pins", entry.set)
            }
        }
        var lines = ["# \(ExportRemark.text)", "", "PinsListTimestamp", "\(writtenAt)"]
        for key in order { lines += ["", names[key] ?? "", key.description] }
        return [
            ExportedFile(name: list, content: "// \(ExportRemark.text)\n\(json.text)\n"),
            ExportedFile(name: keys, content: lines.joined(separator: "\n") + "\n"),
        ]
    }
}
