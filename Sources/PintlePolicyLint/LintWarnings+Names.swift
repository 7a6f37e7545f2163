internal import Pintle
internal import PintlePolicyFile

/// The rules that cover sub-domains, by their host.
struct ParentRules {
    /// The rules for one name, which may differ in their ports.
    private struct Rules {
        var forEveryPort: Int?
        /// The first rule with a port, in the order of the file.
        var firstWithPort: Int?
        var byPort: [UInt16: Int] = [:]

        mutating func add(_ index: Int, port: UInt16?) {
            guard let port else {
                forEveryPort = forEveryPort ?? index
                return
            }
            firstWithPort = firstWithPort ?? index
            byPort[port] = byPort[port] ?? index
        }
    }

    private var rules: [String: Rules] = [:]

    init(_ hosts: [PinnedHost]) {
        for (index, host) in hosts.enumerated() where host.includesSubdomains && host.host.ipAddress == nil {
            rules[host.host.description, default: Rules()].add(index, port: host.port)
        }
    }

    /// Returns the rule of the nearest parent domain that covers the host on that port, or on every port.
    func nearest(above host: ServerName, port: UInt16?) -> Int? {
        first(above: host) { rules in port.flatMap { rules.byPort[$0] } ?? rules.forEveryPort }
    }

    /// Returns the first rule with a port of the nearest parent domain that has one.
    func nearestWithPort(above host: ServerName) -> Int? {
        first(above: host, where: \.firstWithPort)
    }

    private func first(above host: ServerName, where wanted: (Rules) -> Int?) -> Int? {
        guard !rules.isEmpty, host.ipAddress == nil else { return nil }
        var rest = host.description[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let found = rules[String(rest)].flatMap(wanted) { return found }
        }
        return nil
    }
}

/// Warnings about rules that overlap or resemble one another.
extension LintWarnings {
    mutating func lookAtBreadth(of host: PinnedHost, _ index: Int) {
        guard host.includesSubdomains, host.host.ipAddress == nil else { return }
        guard host.host.labels.count == 1 || lint.isPublicSuffix(host.host.description) else { return }
        warn(
            "public-suffix", .rule(index)["host"],
            "\(host) covers the hosts of everyone who registers below it",
            help: "name your own domain; servers that do not match these pins are cut off")
    }

    /// Warns of a name that no certificate can be for. Validation refuses dNSNames with an underscore (RFC 5280 section
    /// 4.2.1.6, RFC 1034 section 3.5), and a wildcard matches no label with one.
    mutating func lookForUnderscore(in host: PinnedHost, _ index: Int) {
        guard host.host.description.contains("_") else { return }
        warn(
            "underscore-in-host", .rule(index)["host"],
            "no certificate can be valid for \(host), because its name has an underscore",
            help: "give the server a name of letters, digits and hyphens")
    }

    /// Warns of a server that clients hardly ever connect to. The server that was meant then has no rule.
    mutating func lookForUnlikelyServer(in host: PinnedHost, _ index: Int) {
        if host.port == 80 {
            warn(
                "unlikely-server", .rule(index)["port"],
                "\(host) is a rule for TLS on port 80, where servers speak plain HTTP, and https means port 443",
                help: "write 443, or leave the port out for every port")
        }
        guard let address = host.host.ipAddress else { return }
        if let embedded = address.embeddedIPv4 {
            warn(
                "unlikely-server", .rule(index)["host"],
                "\(host.host) contains the IPv4 address \(embedded), and the rule does not cover that one",
                help: "if the server is reached by IPv4, write \(embedded)")
        } else if address.needsZone {
            warn(
                "unlikely-server", .rule(index)["host"],
                "\(host.host) is a link-local address, which needs a zone, and URLs with a zone are refused",
                help: "write the server's name, or another of its addresses")
        }
    }

    mutating func lookAtOverlap(of host: PinnedHost, _ index: Int, _ parents: ParentRules) {
        // A rule for a port always decides before a rule without one, and rules for two ports never overlap.
        let parent = parents.nearest(above: host.host, port: host.port).map { hosts[$0] }
        if host.port == nil, let other = parents.nearestWithPort(above: host.host).map({ hosts[$0] }) {
            warn(
                "port-rule-wins", .rule(index)["host"],
                "on port \(other.port ?? 0) the rule for \(other) decides for \(host), although its name is shorter",
                help: "add a rule for \(host) with that port")
        }
        guard let parent else {
            if host.pins.isEmpty, host.anchors.isSystemAlone, host.pathTerms.effective.isEmpty,
                unpinnedHosts == .systemTrust
            {
                warn(
                    "rule-without-effect", .rule(index)["host"],
                    "the rule for \(host) has neither pins nor anchors nor terms about the path, and changes nothing",
                    help: "add pins, or remove the rule")
            }
            return
        }
        if parent.enforcesPins, !host.enforcesPins {
            let state = host.pins.isEmpty ? "has no pins" : "only reports"
            warn(
                "looser-than-parent", .rule(index)["host"],
                "\(host) \(state), while the rule for \(parent) that it replaces enforces its pins",
                help: "enforce pins here too, or remove the rule")
        }
        if let term = host.pathTerms.loosened(from: parent.pathTerms).first {
            warn(
                "looser-than-parent", .rule(index)["host"],
                "\(host) asks less of the path than the rule for \(parent) that it replaces: \(term)",
                help: "repeat the term here, or remove the rule")
        }
        if host.enforcesPins, !host.includesSubdomains, !parent.enforcesPins {
            let state = parent.pins.isEmpty ? "has no pins" : "only reports"
            warn(
                "subdomains-of-looser-parent", .rule(index)["host"],
                "hosts below \(host) fall to the rule for \(parent), which \(state)",
                help: "set includeSubdomains here, or enforce pins there")
        }
    }

    /// Warns of two registered names that differ by one typing error: one of them is probably meant to be the other,
    /// and the host that is really used has no rule.
    mutating func lookForSimilarNames() {
        var first: [String: Int] = [:]
        var order: [String] = []
        for (index, host) in hosts.enumerated() {
            let labels = host.host.labels
            guard labels.count >= 2 else { continue }
            let name = labels.suffix(2).joined(separator: ".")
            if first.updateValue(first[name] ?? index, forKey: name) == nil { order.append(name) }
        }
        // The search takes memory for each name, and a list of this size is not written by hand.
        guard order.count <= 10_000 else { return }
        // Names that are one edit apart become equal when one letter is left out.
        var spellings: [String: String] = [:]
        for name in order {
            guard let dot = name.firstIndex(of: "."), name[..<dot].count >= 5, let index = first[name] else { continue }
            let label = Array(name[..<dot].utf8)
            let suffix = name[dot...]
            var neighbour: String?
            for position in -1..<label.count {
                var shorter = label
                if position >= 0 { shorter.remove(at: position) }
                let spelling = String(decoding: shorter, as: UTF8.self) + suffix
                if let other = spellings[spelling], other != name, neighbour == nil,
                    Self.areOneSlipApart(label, Array(other.utf8.prefix { $0 != UInt8(ascii: ".") }))
                {
                    neighbour = other
                }
                spellings[spelling] = spellings[spelling] ?? name
            }
            guard let neighbour else { continue }
            warn(
                "similar-host", .rule(index)["host"],
                "\(name) differs from \(neighbour), which has a rule too, by one letter",
                help: "if one is a typing error, the intended host is not pinned")
        }
    }

    /// Returns whether two names differ by one typing error. Digits do not count as such, because hosts are numbered.
    private static func areOneSlipApart(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        return left.filter(isDigit) == right.filter(isDigit) && NearestSpelling.distance(left, right) == 1
    }
}

extension PinnedHost {
    fileprivate var enforcesPins: Bool { !pins.isEmpty && enforcement == .enforce }
}

extension TrustAnchors {
    fileprivate var isSystemAlone: Bool { includesSystem && certificates.isEmpty }
}
