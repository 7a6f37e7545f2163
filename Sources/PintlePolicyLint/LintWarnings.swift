internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

/// Collects the warnings about a policy's rules. Time is linear in the rules and the length of their names.
struct LintWarnings {
    let hosts: [PinnedHost]
    /// A Boolean value that indicates whether every rule could be read. Otherwise rules are not compared with one
    /// another, because a rule that could not be read may be the parent of any other.
    let comparesRules: Bool
    let unpinnedHosts: PinningPolicy.UnpinnedHosts
    let lint: PolicyLint
    private(set) var problems: [PolicyProblem] = []
    private(set) var hasMore = false
    /// Anchor sets that were examined; rules share them.
    private var seenAnchors: Set<ObjectIdentifier> = []

    init(_ draft: PolicyDraft, lint: PolicyLint) {
        hosts = draft.hosts
        comparesRules = !draft.hasMisreadRules
        unpinnedHosts = draft.unpinnedHosts
        self.lint = lint
    }

    mutating func collect() {
        if hosts.isEmpty, unpinnedHosts == .systemTrust {
            warn(
                "nothing-pinned", .member("hosts"), "the policy has no rules",
                help: "add a host: pintle pin HOST --as policy")
        }
        let parents = ParentRules(hosts)
        for (index, host) in hosts.enumerated() {
            lookAtPins(of: host, index)
            lookAtExpiry(of: host, index)
            lookAtEnforcement(of: host, index)
            lookAtAnchors(of: host, index)
            lookAtPathTerms(of: host, index)
            if let families = lint.families { lookAtFamilies(of: host, index, families) }
            lookAtBreadth(of: host, index)
            lookForUnderscore(in: host, index)
            lookForUnlikelyServer(in: host, index)
            if comparesRules { lookAtOverlap(of: host, index, parents) }
        }
        lookForSimilarNames()
    }

    mutating func warn(
        _ id: String, _ place: @autoclosure () -> PolicyPath, _ message: @autoclosure () -> String, help: String
    ) {
        guard problems.count < PolicyError.maximumProblems else {
            hasMore = true
            return
        }
        problems.append(PolicyProblem(id: id, at: place(), message: message(), help: help))
    }

    // MARK: A rule by itself

    private mutating func lookAtPins(of host: PinnedHost, _ index: Int) {
        for (list, pins) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in pins.enumerated() {
                if pin.isPlaceholder {
                    warn(
                        "placeholder-pin", .rule(index)[list][position],
                        "this is the placeholder that examples carry, not the hash of a key",
                        help: "pintle pin \(host)")
                } else if let source = pin.key.flatMap(SamplePins.source) {
                    warn(
                        "placeholder-pin", .rule(index)[list][position],
                        "this is the example in \(source), not the hash of a key of \(host)",
                        help: "pintle pin \(host)")
                }
            }
        }
        // A few pins are compared faster than hashed.
        let mayShareKeys =
            host.pins.count + host.backupPins.count > 8
            || host.backupPins.contains { backup in host.pins.contains { $0.subject == backup.subject } }
        if mayShareKeys {
            let subjects = Set(host.pins.map(\.subject))
            let exact = Set(host.pins)
            // A repeated pin at the same position is an error already.
            for (position, pin) in host.backupPins.enumerated()
            where subjects.contains(pin.subject) && !exact.contains(pin) {
                warn(
                    "backup-in-use", .rule(index)["backupPins"][position],
                    "the backup of \(host) is a key that its pins name too",
                    help: "a backup is another key, kept offline: pintle pin backup.key")
            }
        }
        lookForSharedAuthorities(in: host, index)
        lookForLeafCertificates(in: host, index)
    }

    /// Warns of a fingerprint without a position if it is not known to be an authority's.
    private mutating func lookForLeafCertificates(in host: PinnedHost, _ index: Int) {
        guard host.enforcement == .enforce, !host.pins.isEmpty,
            host.pins.allSatisfy({ $0.fingerprint != nil && $0.position != .ca })
        else { return }
        let isKnown = host.pins.contains { pin in
            guard pin.position == .any else { return false }
            return host.anchors.certificates.contains {
                pin.subject == .certificate(CertificatePin(certificate: $0.der))
            }
                || lint.sharedAuthority(pin) != nil
        }
        guard !isKnown else { return }
        warn(
            "leaf-certificate-only", .rule(index)["pins"],
            "\(host) pins its certificate and no key in use: the next renewal locks every installed app out, also with "
                + "the same key" + (host.backupPins.isEmpty ? "" : ", unless a backup pin matches it"),
            help: "pin the key: pintle pin \(host); the fingerprint of an authority says \"at\": \"ca\"")
    }

    private mutating func lookForSharedAuthorities(in host: PinnedHost, _ index: Int) {
        let pins = host.pins + host.backupPins
        // Finding the public authorities may mean reading hundreds of roots. A pin of the leaf is not theirs.
        guard host.anchors.includesSystem, !pins.contains(where: { $0.position == .leaf }) else { return }
        // Machines differ in the roots that they have, so the families are asked first.
        let known = pins.compactMap { lint.families?.family(of: $0) }
        var name = known.first?.name
        if !pins.isEmpty, known.count == pins.count {
            // Pins of one family are `single-authority`.
            guard Set(known.map(\.id)).count > 1 else { return }
        } else {
            name = nil
            for pin in pins {
                guard let authority = lint.families?.family(of: pin)?.name ?? lint.sharedAuthority(pin) else { return }
                name = name ?? authority
            }
        }
        guard let name else { return }
        warn(
            "shared-authority-only", .rule(index)["pins"],
            "\(host) pins nothing but public authorities (\(name)), which sign for everyone who asks",
            help: "pin a key of your own beside them")
    }

    private mutating func lookAtExpiry(of host: PinnedHost, _ index: Int) {
        guard !host.pins.isEmpty else {
            if host.expiry.date != nil {
                warn(
                    "expiry-without-effect", .rule(index)["expiry"],
                    "the rule has no pins that could end, so the date changes nothing",
                    help: "remove it, or add pins: pintle pin \(host)")
            }
            return
        }
        guard let date = host.expiry.date else {
            if host.backupRequirement == .noneAccepted, host.backupPins.isEmpty, host.enforcement == .enforce {
                warn(
                    "no-way-back", .rule(index)["backupPins"],
                    "\(host) has neither a backup pin nor an expiry: a lost key locks every installed app out for good",
                    help: "add a backup pin, or an expiry")
            }
            return
        }
        let day = ValidityText.day(date)
        let seconds = date.timeIntervalSince(lint.now)
        let path = PolicyPath.rule(index)["expiry"]["after"]
        if seconds <= 0 {
            let effect =
                if case .rejecting = host.expiry { "every connection is refused" } else { "pins are not compared" }
            warn(
                "expired", path, "pins of \(host) ended \(day), \(Self.days(-seconds)) ago: \(effect)",
                help: "set a date after your slowest user updates")
        } else if seconds < lint.expiresWithin {
            warn(
                "expires-soon", path, "pins of \(host) end \(day), in \(Self.days(seconds))",
                help: "apps released today outlive them; set a date after your slowest user updates")
        }
    }

    private static func days(_ seconds: Double) -> String {
        let days = Int(min(seconds / 86_400, 4_000_000))
        return days == 1 ? "1 day" : "\(days) days"
    }

    private mutating func lookAtEnforcement(of host: PinnedHost, _ index: Int) {
        guard host.enforcement == .reportOnly, !host.pins.isEmpty else { return }
        let rejects = if case .rejecting = host.expiry { " until the expiry, which refuses every key" } else { "" }
        warn(
            "report-only", .rule(index)["enforcement"],
            "a wrong key of \(host) is reported and let through\(rejects)",
            help: host.reportTo.isEmpty
                ? "add reportTo, or mismatches stay unseen; then set \"enforce\""
                : "set \"enforce\" once the reports are quiet")
    }

    private mutating func lookAtAnchors(of host: PinnedHost, _ index: Int) {
        guard !host.anchors.certificates.isEmpty,
            seenAnchors.insert(ObjectIdentifier(host.anchors.identity)).inserted
        else { return }
        for anchor in host.anchors.certificates where anchor.validity.hasEnded(at: lint.now) {
            warn(
                "anchor-expired", .rule(index)["anchors"],
                "an anchor of \(host) ended \(ValidityText.day(anchor.validity.notAfter)): \(anchor.subject)",
                help: "export the renewed root")
        }
    }
}

extension Pin {
    fileprivate var isPlaceholder: Bool {
        switch subject {
        case .publicKey(let pin): pin.isPlaceholder
        case .certificate(let pin): pin.bytes.allSatisfy { $0 == 0 }
        }
    }
}

/// Warnings about a rule's terms for the validated path.
extension LintWarnings {
    /// Paths of public servers end here: leaf, intermediate, cross-signed root and root.
    private static let usualLength = 4

    mutating func lookAtPathTerms(of host: PinnedHost, _ index: Int) {
        if let length = host.minimumPathLength {
            if length == 1 {
                warn(
                    "path-length-without-effect", .rule(index)["minimumPathLength"],
                    "every path has one certificate, so the term changes nothing",
                    help: "write 3 to refuse leaves that a root has signed directly, or remove it")
            } else if length > Self.usualLength, PathTerms.lengths.contains(length) {
                warn(
                    "path-length-unusual", .rule(index)["minimumPathLength"],
                    "\(host) refuses paths of fewer than \(length) certificates; public servers have 2 to 4",
                    help: "compare with the path that pintle check \(host) prints")
            }
        }
        guard let issuer = host.issuerKey else { return }
        let pin = Pin(.publicKey(issuer))
        if issuer.isPlaceholder || SamplePins.source(of: issuer) != nil {
            warn(
                "placeholder-pin", .rule(index)["issuerKey"],
                "this is the placeholder that examples carry, not the hash of a key", help: "pintle pin \(host)")
        }
        if (host.pins + host.backupPins).contains(where: { $0.subject == pin.subject && $0.position == .leaf }) {
            warn(
                "issuer-key-of-leaf", .rule(index)["issuerKey"],
                "the key is a pin of the leaf of \(host) too, and a leaf does not issue itself",
                help: "write the key of the certificate above the leaf: pintle pin \(host)")
        }
        let isPrivateRoot = host.anchors.certificates.contains { $0.publicKeyPin == issuer && $0.isSelfIssued }
        if isPrivateRoot, let length = host.minimumPathLength, length > 2 {
            warn(
                "issuer-key-of-root", .rule(index)["issuerKey"],
                "the key is that of a root in anchors, which makes a path of 2, and minimumPathLength is \(length)",
                help: "write the key of the intermediate, or lower minimumPathLength to 2")
        } else if !isPrivateRoot, host.anchors.includesSystem, let name = lint.sharedAuthority(pin) {
            warn(
                "issuer-key-of-root", .rule(index)["issuerKey"],
                "the key is that of \(name), a public root, which rarely issues the certificate of a server itself",
                help: "write the key of the certificate above the leaf: pintle pin \(host); or pin the root at \"ca\"")
        }
    }
}
