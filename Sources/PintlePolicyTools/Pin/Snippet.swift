internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile

/// A text to paste, made from pins.
enum Snippet: String, CaseIterable {
    case policy, swift, ats, nsc, okhttp, trustkit, curl, pem

    func text(of rules: [SnippetRule], _ libraries: any Libraries) throws(ToolError) -> String {
        switch self {
        case .policy: return Self.policy(rules)
        case .swift: return Self.swift(rules)
        case .curl: return rules.map(Self.curl).joined(separator: "\n")
        // The certificates themselves, which the rules do not have.
        case .pem: return ""
        case .ats, .nsc, .okhttp, .trustkit:
            guard let plan = try plan(rules, libraries) else { return "" }
            if let error = plan.refusal { throw error }
            guard let file = plan.files(ExportSettings()).first else { return "" }
            return String(file.content.dropLast())
        }
    }

    /// Returns the rules in a foreign format, as the pins of the servers' own keys; `nil` for other forms.
    private func plan(_ rules: [SnippetRule], _ libraries: any Libraries) throws(ToolError) -> ExportPlan? {
        guard self != .curl, let format = ForeignFormat(rawValue: rawValue) else { return nil }
        do throws(PolicyError) {
            // ATS needs to know that keys without a position are those of leaves.
            let isATS = self == .ats
            func placed(_ pins: [Pin]) -> [Pin] {
                pins.map { isATS && $0.position == .any ? Pin($0.subject, at: .leaf) : $0 }
            }
            var hosts: [PinnedHost] = []
            for rule in rules {
                let port = rule.endpoint.port == 443 ? nil : rule.endpoint.port
                hosts.append(
                    try PinnedHost(
                        rule.endpoint.host.description, port: port,
                        pins: placed(rule.pins), backupPins: placed(rule.backupPins),
                        backup: rule.backupPins.isEmpty ? .noneAccepted : .required))
            }
            return ExportPlan(try PinningPolicy(hosts: hosts), to: format, libraries)
        } catch {
            throw ToolError(error, file: "policy")
        }
    }

    /// Returns advice for users of the snippet.
    func advice(on rules: [SnippetRule], _ libraries: any Libraries) -> [String] {
        var advice: [String] = []
        if rules.contains(where: \.backupPins.isEmpty) {
            switch self {
            case .policy:
                advice.append(
                    "there is no backup pin, so 'pintle lint' will refuse this: "
                        + "add a key or a request that is not in use yet"
                )
            case .swift: advice.append("there is no backup pin, so PinningPolicy will throw: add a key or a request")
            case .ats, .nsc, .okhttp, .trustkit, .curl, .pem:
                advice.append("there is no backup pin: a lost key locks you out")
            }
        }
        if let plan = try? plan(rules, libraries) {
            advice += plan.losses.sorted.filter { $0.effect != .other }.map { "\($0.effect.rawValue): \($0.message)" }
        }
        if self == .curl { advice.append("curl compares only the server's own key, never an authority's") }
        return advice
    }

    private static func policy(_ rules: [SnippetRule]) -> String {
        let document = JSONWriter.document { json in
            json.member("version", 1)
            json.objects("hosts", rules) { json, rule in
                json.member("host", rule.endpoint.host.description)
                if rule.endpoint.port != 443 { json.member("port", rule.endpoint.port) }
                for (name, pins) in [("pins", rule.pins), ("backupPins", rule.backupPins)] {
                    json.array(name, pins) { json, pin in pin.write(to: &json, note: rule.note(of: pin)) }
                }
                if !rule.anchors.isEmpty {
                    json.object("anchors") { json in json.member("include", rule.anchors.map(\.pem)) }
                }
            }
        }
        return document.text
    }

    private static func swift(_ rules: [SnippetRule]) -> String {
        var lines = ["let policy = try PinningPolicy {"]
        for rule in rules {
            let port = rule.endpoint.port == 443 ? "" : ", port: \(rule.endpoint.port)"
            lines.append("    try PinnedHost(")
            lines.append("        \"\(rule.endpoint.host)\"\(port),")
            let isPlain = (rule.pins + rule.backupPins).allSatisfy { $0.position == .any }
            lines.append("        pins: \(swiftList(rule.pins, isPlain: isPlain)),")
            lines.append("        backupPins: \(swiftList(rule.backupPins, isPlain: isPlain)))")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    /// - Parameter isPlain: `true` if no pin of the rule has a position; such pins are strings.
    private static func swiftList(_ pins: [Pin], isPlain: Bool) -> String {
        if isPlain { return "[" + pins.map { "\"\($0)\"" }.joined(separator: ", ") + "]" }
        guard !pins.isEmpty else { return "[]" }
        let lines = pins.map { pin in
            "            try .publicKey(\"\(pin)\"\(pin.position == .any ? "" : ", at: .\(pin.position.rawValue)"))"
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n        ]"
    }

    private static func curl(_ rule: SnippetRule) -> String {
        let pins = (rule.pins + rule.backupPins).compactMap { $0.key?.curl }.joined(separator: ";")
        let server = rule.endpoint.port == 443 ? String("\(rule.endpoint)".dropLast(":443".count)) : "\(rule.endpoint)"
        return "curl --pinnedpubkey '\(pins)' https://\(server)/"
    }
}

/// The rule for one host that a snippet is made of.
struct SnippetRule {
    let endpoint: ServerEndpoint
    /// Public-key pins, as are the backup pins.
    var pins: [Pin] = []
    var backupPins: [Pin] = []
    /// The roots that the rule trusts; empty for the system's.
    var anchors: [Certificate] = []
    /// The names of roots.
    var notes: [PublicKeyPin: String] = [:]

    /// Returns the rules: servers and certificates give the pin of their leaf, keys and requests give backup pins.
    ///
    /// - Parameter host: the host of the command line, for sources without a name.
    static func rules(for listings: [PinListing], host: ServerEndpoint?) throws(ToolError) -> [SnippetRule] {
        for listing in listings { try listing.requireStrongKeys() }
        var sorter = RuleSorter(host: host)
        try sorter.sort(listings)
        for rule in sorter.rules {
            guard let alias = AddressAlias(rule.endpoint.host) else { continue }
            throw .unusable("invalid-host", alias.message, hint: alias.hint)
        }
        return sorter.rules
    }

    func note(of pin: Pin) -> String? { pin.key.flatMap { notes[$0] } }

    mutating func addBackup(_ key: PublicKeyPin) {
        let pin = Pin(.publicKey(key))
        if !backupPins.contains(pin), !pins.contains(pin) { backupPins.append(pin) }
    }
}

extension PinListing {
    /// Throws if a key that gets a pin is one that no path may have.
    func requireStrongKeys() throws(ToolError) {
        for item in pinnedItems { try item.requireStrongKey(from: source) }
    }
}
