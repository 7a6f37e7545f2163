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
        let groups = rules.grouped
        var json = JSONWriter(.pretty)
        json.object { json in
            json.array("pinsets") { json in
                for (index, group) in groups.enumerated() {
                    guard let rule = group.first else { continue }
                    json.object { json in
                        json.member("name", "set\(index + 1)")
                        json.member("static_spki_hashes", rule.keys.compactMap { names[$0] })
                        json.member("report_uri", rule.reportTo.first)
                    }
                }
            }
            json.array("entries") { json in
                for (index, group) in groups.enumerated() {
                    for rule in group {
                        json.object { json in
                            json.member("name", rule.host.description)
                            if rule.includesSubdomains { json.member("include_subdomains", true) }
                            json.member("pins", "set\(index + 1)")
                        }
                    }
                }
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
