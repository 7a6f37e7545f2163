internal import Pintle

/// Something ready to paste, made from pins.
enum Snippet: String, CaseIterable {
    case policy, swift, curl

    func text(of rules: [SnippetRule]) -> String {
        switch self {
        case .policy: Self.policy(rules)
        case .swift: Self.swift(rules)
        case .curl: rules.map(Self.curl).joined(separator: "\n")
        }
    }

    /// What whoever pastes it should know.
    func advice(on rules: [SnippetRule]) -> [String] {
        var advice: [String] = []
        if rules.contains(where: \.backupPins.isEmpty) {
            switch self {
            case .policy:
                advice.append("there is no backup pin, so 'pintle lint' will refuse this: add a key or a request")
            case .swift: advice.append("there is no backup pin, so PinningPolicy will throw: add a key or a request")
            case .curl: advice.append("there is no backup pin: a lost key locks you out")
            }
        }
        if self == .curl { advice.append("curl compares the server's own key alone, never an authority's") }
        return advice
    }

    private static func policy(_ rules: [SnippetRule]) -> String {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("version", 1)
            json.array("hosts") { json in
                for rule in rules {
                    json.object { json in
                        json.member("host", rule.endpoint.host.description)
                        if rule.endpoint.port != 443 { json.member("port", Int(rule.endpoint.port)) }
                        json.member("pins", rule.pins.map(\.description))
                        json.member("backupPins", rule.backupPins.map(\.description))
                    }
                }
            }
        }
        return json.text
    }

    private static func swift(_ rules: [SnippetRule]) -> String {
        var lines = ["let policy = try PinningPolicy {"]
        for rule in rules {
            let port = rule.endpoint.port == 443 ? "" : ", port: \(rule.endpoint.port)"
            lines.append("    try PinnedHost(")
            lines.append("        \"\(rule.endpoint.host)\"\(port),")
            lines.append("        pins: [\(swiftList(rule.pins))],")
            lines.append("        backupPins: [\(swiftList(rule.backupPins))])")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private static func swiftList(_ pins: [PublicKeyPin]) -> String {
        pins.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private static func curl(_ rule: SnippetRule) -> String {
        let pins = (rule.pins + rule.backupPins)
            .map { "sha256//" + $0.description.dropFirst("sha256/".count) }
            .joined(separator: ";")
        let server = rule.endpoint.port == 443 ? String("\(rule.endpoint)".dropLast(":443".count)) : "\(rule.endpoint)"
        return "curl --pinnedpubkey '\(pins)' https://\(server)/"
    }
}
