internal import Pintle
internal import PintleConsole
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleText

/// A pin that may enter the next policy as a backup, although no server shows it yet.
///
/// A key on disk is one, and a root of an authority of which the rule pins another root.
struct RenewCandidate {
    enum Origin: Hashable {
        /// A request, a public key or a private key in this file.
        case file(String)
        /// A root of this authority.
        case family(String, root: String)
    }

    /// The index of the rule.
    let rule: Int
    let pin: PublicKeyPin
    let position: PinPosition
    let origin: Origin

    /// The origin in words: `the key of backup.csr`
    var source: String {
        switch origin {
        case .file(let path): "the key of \(path)"
        case .family(let name, _): "\(name) also issues from this root"
        }
    }

    /// The note for the pin.
    var note: String {
        switch origin {
        case .file(let path): "key of \(path.split(separator: "/").last ?? "")"
        case .family(_, let root): root
        }
    }

    /// Reads the keys of the command line. These need no server that shows them, because the user has the
    /// files.
    ///
    /// - Parameter words: each `FILE`, or `HOST=FILE` if the policy has several rules.
    static func files(
        _ words: [String], _ policy: PinningPolicy, _ invocation: Invocation
    ) throws(ToolError) -> [RenewCandidate] {
        var candidates: [RenewCandidate] = []
        for word in words {
            let (rule, path) = try place(of: word, policy)
            guard !policy.hosts[rule].pins.isEmpty else {
                throw .usage(
                    "--key \(word): the rule of \(policy.hosts[rule]) has no pins, so it needs no backup", of: .renew)
            }
            for pin in try pins(in: path, for: policy.hosts[rule], invocation)
            where !candidates.contains(where: { $0.rule == rule && $0.pin == pin }) {
                let position: PinPosition = policy.hosts[rule].requires == .leafAndCA ? .leaf : .any
                candidates.append(
                    RenewCandidate(rule: rule, pin: pin, position: position, origin: .file(path)))
            }
        }
        return candidates
    }

    /// Returns the roots that complete families: those of each authority of which a rule pins a root.
    static func roots(_ families: AuthorityFamilies, _ policy: PinningPolicy) -> [RenewCandidate] {
        var candidates: [RenewCandidate] = []
        for (rule, host) in policy.hosts.enumerated() where host.anchors.includesSystem {
            let pins = host.pins + host.backupPins
            let known = Set(pins.filter { $0.position != .leaf }.compactMap(\.key))
            for family in families.families where family.pins.contains(where: known.contains) {
                for root in family.roots {
                    guard let pin = root.pin, !known.contains(pin) else { continue }
                    candidates.append(
                        RenewCandidate(
                            rule: rule, pin: pin, position: .ca, origin: .family(family.name, root: root.name)))
                }
            }
        }
        return candidates
    }

    /// Returns the file that a word of the command line names.
    static func path(in word: String, _ policy: PinningPolicy) throws(ToolError) -> String {
        try place(of: word, policy).path
    }

    private static func place(of word: String, _ policy: PinningPolicy) throws(ToolError) -> (rule: Int, path: String) {
        if let equals = word.firstIndex(of: "=") {
            let name = word[..<equals].lowercased()
            let path = String(word[word.index(after: equals)...])
            if let rule = policy.hosts.firstIndex(where: { $0.description == name }) { return (rule, path) }
            // The name of a file may have this sign too.
            guard InputFile.exists(word) else {
                let problem = name.isEmpty ? "there is no host before the =" : "no rule is called \(name)"
                throw .usage("--key \(word): \(problem); \(named(policy))", of: .renew)
            }
        }
        guard let only = policy.hosts.indices.first, policy.hosts.count == 1 else {
            throw .usage("--key \(word): \(named(policy)); write HOST=FILE", of: .renew)
        }
        return (only, word)
    }

    /// `the policy has 2 rules (example.com, example.net:8443)`
    private static func named(_ policy: PinningPolicy) -> String {
        let known = policy.hosts.prefix(5).map(\.description) + (policy.hosts.count > 5 ? ["..."] : [])
        return "the policy has \(ValidityText.counted(policy.hosts.count, "rule")) (\(known.joined(separator: ", ")))"
    }

    private static func pins(
        in path: String, for host: PinnedHost, _ invocation: Invocation
    ) throws(ToolError) -> [PublicKeyPin] {
        var file = try invocation.file(path)
        var pins: [PublicKeyPin] = []
        for item in try invocation.items(in: &file) {
            try item.requireStrongKey(from: file.name)
            switch item {
            case .request(let request):
                try request.requireReadableNames(from: file.name)
                guard request.names.isEmpty || request.names.contains(where: { $0.isCovered(by: host) }) else {
                    throw .unusable(
                        "other-host", "the request names \(GeneralName.list(request.names)), not \(host)",
                        file: file.name, hint: "give it to the rule of its host: --key HOST=FILE")
                }
                pins.append(request.publicKeyPin)
            case .key(let key, _): pins.append(key.pin)
            case .certificate, .unfit:
                throw .unusable(
                    "not-a-key", "the file has a certificate", file: file.name,
                    hint: "give the key or the request of a key that you keep; a certificate may be anyone's")
            }
        }
        return pins
    }
}

extension GeneralName {
    /// Returns whether a rule covers the name, or names below a wildcard.
    fileprivate func isCovered(by rule: PinnedHost) -> Bool {
        if [self].include(rule.host) { return true }
        guard rule.includesSubdomains, case .dns(let octets) = self else { return false }
        let name = String(decoding: octets, as: UTF8.self).lowercased()
        let base = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
        return base == rule.host.description || base.hasSuffix(".\(rule.host)")
    }
}
