package import Pintle
internal import PintleConsole
package import PintlePolicyLint
package import PintleSystem
internal import PintleText

/// Judges how long a rule is likely to match a server whose path it matches now.
package struct FragilityJudge: Sendable {
    package let families: AuthorityFamilies
    /// Returns whether a root signs for everyone, because this machine trusts it.
    let isPublicRoot: @Sendable (PublicKeyPin) -> Bool

    /// Returns the results of earlier audits of a server.
    let history: @Sendable (AuditServer) -> KeyHistory?

    /// The options for commands about a server: see ``Invocation/serverOptions``.
    let serverOptions: [String]
    /// The options for commands about an authority.
    let familyOptions: [String]

    package init(
        families: AuthorityFamilies, isPublicRoot: @escaping @Sendable (PublicKeyPin) -> Bool,
        history: @escaping @Sendable (AuditServer) -> KeyHistory? = { _ in nil }, serverOptions: [String] = [],
        familyOptions: [String] = []
    ) {
        self.families = families
        self.isPublicRoot = isPublicRoot
        self.history = history
        self.serverOptions = serverOptions
        self.familyOptions = familyOptions
    }

    /// The certificates of a path, as far as the judgement needs them.
    package struct Path {
        let server: AuditServer
        /// The keys, leaf first.
        let keys: [PublicKeyPin]
        let fingerprint: CertificatePin
        let validity: Validity
        let now: Date

        package init(
            server: AuditServer, keys: [PublicKeyPin], fingerprint: CertificatePin, validity: Validity, now: Date
        ) {
            self.server = server
            self.keys = keys
            self.fingerprint = fingerprint
            self.validity = validity
            self.now = now
        }

        var endpoint: ServerEndpoint { server.endpoint }
    }

    /// The reason why a pin is likely to end with the next renewal.
    private struct Cause {
        var id = Fragility.ID.fragilePin
        let because: String
        let remedy: String
        let isProblem: Bool
    }

    /// Returns the judgement of the pins that match; `nil` if one of them is likely to last, or if none matches.
    ///
    /// A rule that needs a leaf and an authority lasts as long as the one that ends first.
    package func judge(_ host: PinnedHost, on path: Path) -> Fragility? {
        // Without the system's roots public authorities have no say, and report-only pins refuse nothing.
        guard host.anchors.includesSystem, host.enforcement == .enforce else { return nil }
        let pins = host.pins + host.backupPins
        let depths = path.keys.indices
        /// Returns `nil` for each pin that is likely to last.
        func outlooks(_ depths: some Sequence<Int>) -> [Fragility?] {
            depths.flatMap { depth in
                pins.filter { matches($0, path, depth) }.map { outlook(of: $0, at: depth, path, pins) }
            }
        }
        let ends: [Fragility?]
        switch host.requires {
        case .anyPin: ends = [best(outlooks(depths))]
        case .leafAndCA: ends = [best(outlooks(depths.prefix(1))), best(outlooks(depths.dropFirst()))]
        }
        return ends.compactMap(\.self).min { ($0.until ?? .distantFuture) < ($1.until ?? .distantFuture) }
            ?? singleAuthority(host, pins)
    }

    private func best(_ outlooks: [Fragility?]) -> Fragility? {
        var longest: Fragility?
        for outlook in outlooks {
            guard let fragility = outlook else { return nil }
            let until = fragility.until ?? .distantFuture
            // Of two pins that end on one day, the one that is no problem tells more.
            if let known = longest {
                let end = known.until ?? .distantFuture
                if end > until || end == until && !known.isProblem { continue }
            }
            longest = fragility
        }
        return longest
    }

    private func matches(_ pin: Pin, _ path: Path, _ depth: Int) -> Bool {
        guard pin.position.covers(depth: depth) else { return false }
        switch pin.subject {
        case .publicKey(let key): return path.keys[depth] == key
        // The fingerprint of an authority ends with its certificate, years later.
        case .certificate(let fingerprint): return depth == 0 && path.fingerprint == fingerprint
        }
    }

    // MARK: Positions

    /// Returns `nil` for a pin that is likely to last.
    private func outlook(of pin: Pin, at depth: Int, _ path: Path, _ pins: [Pin]) -> Fragility? {
        // A pool of servers with several certificates changes its leaf without a renewal.
        let history = history(path.server).flatMap { $0.showsSeveralLeaves ? nil : $0 }
        return cause(of: pin, at: depth, path, pins, history).map { cause in
            let renewal = nextRenewal(of: path, history)
            return Fragility(
                id: cause.id, subject: "\(pin)", until: renewal.date, because: "\(cause.because); \(renewal.rule)",
                remedy: cause.remedy, isProblem: cause.isProblem)
        }
    }

    private func cause(
        of pin: Pin, at depth: Int, _ path: Path, _ pins: [Pin], _ history: KeyHistory?
    ) -> Cause? {
        let key = path.keys[depth]
        if depth > 0, let family = families.family(ofRoot: key) {
            let others = family.pins.filter { other in !pins.contains { $0.subject == .publicKey(other) } }
            guard !others.isEmpty else { return changing(.root, pins, history) }
            return Cause(
                id: .familyIncomplete, because: "\(family.name) also issues from \(names(of: others, in: family))",
                remedy: "pin all its roots: "
                    + Invocation.line(["pintle", "pin", "--authority", family.id] + familyOptions), isProblem: false)
        }
        if depth == path.keys.count - 1, depth > 0 { return changing(.root, pins, history) }
        if depth > 0 { return intermediate(key, path, pins, history) }
        if pin.fingerprint != nil {
            return Cause(
                because: "a fingerprint ends with its certificate",
                remedy: "pin the key: " + Invocation.line(["pintle", "pin", "\(path.endpoint)"] + serverOptions),
                isProblem: false)
        }
        return leafKey(path, history)
    }

    private func intermediate(
        _ key: PublicKeyPin, _ path: Path, _ pins: [Pin], _ history: KeyHistory?
    ) -> Cause? {
        let family = families.family(ofIntermediate: key) ?? families.family(ofPath: path.keys)
        guard let family, !family.rotation.isEmpty else { return changing(.intermediates, pins, history) }
        return Cause(
            because: "\(family.name) exchanges its intermediates",
            remedy: "pin the roots instead: \(durable(path))", isProblem: true)
    }

    /// The command that shows the roots of the server's authority.
    private func durable(_ path: Path) -> String {
        Invocation.line(["pintle", "pin", "\(path.endpoint)", "--durable"] + serverOptions + familyOptions)
    }

    /// Judges a key of an authority that says nothing about its changes: it is likely to end if renewals changed it
    /// before. A single change was a move, which tells nothing about the next one, and a change between pinned keys has
    /// no effect.
    private func changing(_ part: KeyHistory.Part, _ pins: [Pin], _ history: KeyHistory?) -> Cause? {
        func isPinned(_ observation: KeyObservation) -> Bool {
            let keys = part == .root ? [observation.root].compactMap(\.self) : observation.intermediates
            return keys.contains { key in pins.contains { $0.subject == .publicKey(key) } }
        }
        let changes =
            history?.renewals.count { renewal in
                renewal.keeps(part) == false && !(isPinned(renewal.before) && isPinned(renewal.after))
            } ?? 0
        guard changes > 1 else { return nil }
        return Cause(
            because: "earlier audits saw \(changes) changes here",
            remedy: "pin the roots of every authority that was seen, or a key of your own", isProblem: true)
    }

    private func leafKey(_ path: Path, _ history: KeyHistory?) -> Cause? {
        guard let root = path.keys.last, families.family(ofPath: path.keys) != nil || isPublicRoot(root) else {
            return nil
        }
        let remedy =
            "let the client of the authority keep the key when it renews, or pin the roots: "
            + durable(path)
        if let last = history?.renewals.last {
            guard last.leafKey else { return nil }
            return Cause(
                because: "the last renewal that audits saw brought a new key", remedy: remedy, isProblem: true)
        }
        let days = path.validity.notAfter.timeIntervalSince(path.validity.notBefore) / 86_400
        guard days <= Self.automatedLifetime else { return nil }
        return Cause(
            because: "no renewal was seen, and most clients that renew short certificates make a new key",
            remedy: remedy, isProblem: false)
    }

    /// The longest lifetime in days of certificates that are renewed by programs: that of public certificates from
    /// March 2027 on (CA/Browser Forum Baseline Requirements, section 6.3.2). Authorities that issue automatically have
    /// shorter ones.
    private static let automatedLifetime = 100.0

    // MARK: Dates

    /// Returns the instant at which the leaf is likely to be renewed, and the rule that gives it. If that day has
    /// passed, it is the certificate's end.
    private func nextRenewal(of path: Path, _ history: KeyHistory?) -> (date: Date, rule: String) {
        let (date, rule) = expectedRenewal(of: path, history)
        guard date <= path.now else { return (min(date, path.validity.notAfter), rule) }
        return (path.validity.notAfter, "\(rule), so the renewal was due on \(ValidityText.day(date))")
    }

    private func expectedRenewal(of path: Path, _ history: KeyHistory?) -> (date: Date, rule: String) {
        let end = path.validity.notAfter
        if let interval = history?.renewalInterval, interval > 0 {
            let days = max(1, Int((interval / 86_400).rounded()))
            return (
                path.validity.notBefore.addingTimeInterval(interval),
                "earlier audits saw a renewal every \(ValidityText.counted(days, "day"))"
            )
        }
        let days = Int((end.timeIntervalSince(path.validity.notBefore) / 86_400).rounded())
        let date = ValidityText.lastThird(of: path.validity)
        if let family = families.family(ofPath: path.keys),
            let usual = family.lifetime(at: path.validity.notBefore), abs(usual.days - days) <= 1
        {
            return (date, "\(family.name) issues for \(usual.days) days, and clients renew after two thirds of that")
        }
        return (
            date,
            "the certificate lives \(ValidityText.counted(days, "day")), and clients renew after two thirds of that"
        )
    }

    // MARK: Authorities

    private func names(of pins: [PublicKeyPin], in family: AuthorityFamily) -> String {
        let names = family.roots.filter { $0.pin.map(pins.contains) ?? false }.map(\.name)
        return TextLayout.list(names, width: 60)
    }

    private func singleAuthority(_ host: PinnedHost, _ pins: [Pin]) -> Fragility? {
        guard let family = families.onlyFamily(of: host) else { return nil }
        return Fragility(
            id: .singleAuthority, subject: "the rule of \(host)", until: nil,
            because: "it accepts nothing but \(family.name), and nothing is left if that authority is distrusted",
            remedy: "add a key of your own, or the roots of a second authority", isProblem: false)
    }
}
