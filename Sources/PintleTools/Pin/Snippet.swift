internal import Pintle

/// A text to paste, made from pins.
enum Snippet: String, CaseIterable {
    case policy, swift, ats, nsc, okhttp, trustkit, curl, pem

    func text(of rules: [SnippetRule]) throws(ToolError) -> String {
        switch self {
        case .policy: return Self.policy(rules)
        case .swift: return Self.swift(rules)
        case .curl: return rules.map(Self.curl).joined(separator: "\n")
        // The certificates themselves, which the rules do not have.
        case .pem: return ""
        case .ats, .nsc, .okhttp, .trustkit:
            guard let plan = try plan(rules), let file = plan.files(ExportSettings()).first else { return "" }
            return String(file.content.dropLast())
        }
    }

    /// Returns the rules in a foreign format, as the pins of the servers' own keys; `nil` for other forms.
    private func plan(_ rules: [SnippetRule]) throws(ToolError) -> ExportPlan? {
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
                advice.append(
                    "there is no backup pin, so 'pintle lint' will refuse this: "
                        + "add a key or a request that is not in use yet"
                )
            case .swift: advice.append("there is no backup pin, so PinningPolicy will throw: add a key or a request")
            case .ats, .nsc, .okhttp, .trustkit, .curl, .pem:
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
        let document = JSONWriter.document { json in
            json.member("version", 1)
            json.objects("hosts", rules) { json, rule in
                json.member("host", rule.endpoint.host.description)
                if rule.endpoint.port != 443 { json.member("port", rule.endpoint.port) }
                for (name, pins) in [("pins", rule.pins), ("backupPins", rule.backupPins)] {
                    json.array(name, pins) { json, pin in pin.write(to: &json, note: rule.note(of: pin)) }
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
    /// The names of roots.
    var notes: [PublicKeyPin: String] = [:]

    /// Returns the rules: servers and certificates give the pin of their leaf, keys and requests give backup pins.
    ///
    /// - Parameter host: the host of the command line, which replaces the certificates' own names.
    static func rules(for listings: [PinListing], host: ServerEndpoint?) throws(ToolError) -> [SnippetRule] {
        var rules: [SnippetRule] = []
        func add(_ key: PublicKeyPin?, to endpoint: ServerEndpoint) {
            let pin = key.map { Pin(.publicKey($0)) }
            guard let index = rules.firstIndex(where: { $0.endpoint == endpoint }) else {
                rules.append(SnippetRule(endpoint: endpoint, pins: pin.map { [$0] } ?? []))
                return
            }
            if let pin, !rules[index].pins.contains(pin) { rules[index].pins.append(pin) }
        }
        for listing in listings { try listing.requireStrongKeys() }
        for listing in listings {
            if let server = listing.server { add(listing.leaf?.publicKeyPin, to: server.endpoint) }
        }
        let files = listings.filter { $0.server == nil }
        let named = host ?? files.lazy.compactMap(\.leaf).compactMap(\.firstHost).first
        for leaf in files.compactMap(\.leaf) {
            guard let target = try target(named, rules) else { throw nameless }
            add(leaf.publicKeyPin, to: target)
        }
        guard !rules.isEmpty else {
            throw .usage("there are only backup keys; add the server or its certificate", of: .pin)
        }
        for index in rules.indices { rules[index].addBackups(of: files) }
        return rules
    }

    func note(of pin: Pin) -> String? { pin.key.flatMap { notes[$0] } }

    /// Adds the keys and requests of files as backup pins.
    mutating func addBackups(of files: [PinListing]) {
        for key in files.flatMap(\.entries).compactMap(\.backupPin) {
            let pin = Pin(.publicKey(key))
            if !backupPins.contains(pin), !pins.contains(pin) { backupPins.append(pin) }
        }
    }

    /// Returns the index of the rule for certificates from files: that of the only server, or of the host that was
    /// named.
    private static func target(_ named: ServerEndpoint?, _ rules: [SnippetRule]) throws(ToolError) -> ServerEndpoint? {
        if rules.count > 1 {
            throw .usage("to which of the hosts do the certificates belong? run it for each", of: .pin)
        }
        return rules.first?.endpoint ?? named
    }

    private static var nameless: ToolError {
        .usage("no certificate names a host; say which: --host HOST", of: .pin, code: "missing-host")
    }
}

extension PinListing {
    /// A Boolean value that indicates whether it is a file whose certificate has no subject alternative name.
    var isNameless: Bool { server == nil && leaf?.lacksAlternativeNames == true }

    /// Throws if a key that gets a pin is one that no path may have.
    func requireStrongKeys() throws(ToolError) {
        for entry in entries where entry.position == "leaf" || entry.item.certificate == nil {
            try entry.item.requireStrongKey(from: source)
        }
    }

    /// The first certificate in the listing.
    fileprivate var leaf: Certificate? {
        entries.lazy.compactMap(\.item.certificate).first
    }
}

extension PinEntry {
    fileprivate var backupPin: PublicKeyPin? {
        switch item {
        case .certificate: nil
        case .request(let request): request.publicKeyPin
        case .key(let key, _): key.pin
        }
    }
}

extension Certificate {
    fileprivate var lacksAlternativeNames: Bool { subjectAlternativeNames?.isEmpty ?? true }

    /// The first DNS name that is a host and not a wildcard, or the first address. If there are no alternative names,
    /// as in certificates of `openssl req -x509`, the common name is suggested, although no client accepts it.
    fileprivate var firstHost: ServerEndpoint? {
        for name in subjectAlternativeNames ?? [] {
            switch name {
            case .dns(let octets):
                if let host = try? ServerName(String(decoding: octets, as: UTF8.self)) {
                    return ServerEndpoint(host: host)
                }
            case .ipAddress(let octets):
                if let address = IPAddress(octets: octets) { return ServerEndpoint(host: ServerName(address)) }
            default: break
            }
        }
        guard lacksAlternativeNames, let name = subject.commonName, name == "localhost" || name.contains(".") else {
            return nil
        }
        return (try? ServerName(name)).map { ServerEndpoint(host: $0) }
    }
}
