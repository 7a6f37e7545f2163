internal import Pintle

/// A text to paste, made from pins.
enum Snippet: String, CaseIterable {
    case policy, swift, ats, nsc, okhttp, trustkit, curl

    func text(of rules: [SnippetRule]) throws(ToolError) -> String {
        switch self {
        case .policy: return Self.policy(rules)
        case .swift: return Self.swift(rules)
        case .curl: return rules.map(Self.curl).joined(separator: "\n")
        case .ats, .nsc, .okhttp, .trustkit:
            guard let plan = try plan(rules), let file = plan.files(ExportSettings()).first else { return "" }
            return String(file.content.dropLast())
        }
    }

    /// Returns the rules in a foreign format, as the pins of the servers' own keys; `nil` for other forms.
    private func plan(_ rules: [SnippetRule]) throws(ToolError) -> ExportPlan? {
        guard self != .curl, let format = ForeignFormat(rawValue: rawValue) else { return nil }
        do throws(PolicyError) {
            // Servers and certificates give the keys of leaves, and ATS needs to know that.
            let position: PinPosition = self == .ats ? .leaf : .any
            var hosts: [PinnedHost] = []
            for rule in rules {
                let port = rule.endpoint.port == 443 ? nil : rule.endpoint.port
                hosts.append(
                    try PinnedHost(
                        rule.endpoint.host.description, port: port,
                        pins: rule.pins.map { Pin(.publicKey($0), at: position) },
                        backupPins: rule.backupPins.map { Pin(.publicKey($0), at: position) },
                        backup: rule.backupPins.isEmpty ? .noneAccepted : .required))
            }
            return ExportPlan(try PinningPolicy(hosts: hosts), to: format)
        } catch {
            throw ToolError(error, file: "policy")
        }
    }

    /// Returns advice for users of the snippet.
    func advice(on rules: [SnippetRule]) -> [String] {
        var advice: [String] = []
        if rules.contains(where: \.backupPins.isEmpty) {
            switch self {
            case .policy:
                advice.append("there is no backup pin, so 'pintle lint' will refuse this: add a key or a request")
            case .swift: advice.append("there is no backup pin, so PinningPolicy will throw: add a key or a request")
            case .ats, .nsc, .okhttp, .trustkit, .curl:
                advice.append("there is no backup pin: a lost key locks you out")
            }
        }
        if let plan = try? plan(rules) {
            advice += plan.losses.sorted.filter { $0.effect != .other }.map { "\($0.effect.rawValue): \($0.message)" }
        }
        if self == .curl { advice.append("curl compares only the server's own key, never an authority's") }
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
