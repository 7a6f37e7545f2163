internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient
internal import PintleText

/// Compares a policy with the certificates of live servers.
struct LiveLint {
    private let policy: PinningPolicy
    /// The policy's file, for places; `nil` without a file.
    private let root: JSONValue?
    private let authority: @Sendable (Pin) -> String?
    private let judge: FragilityJudge
    var families: AuthorityFamilies { judge.families }
    private let now: Date
    /// The options for commands about a server: see ``Invocation/serverOptions``.
    private let options: [String]
    /// The policy's file for commands.
    private let file: String

    init(
        _ linted: LintedPolicy, now: Date, options: [String] = [], familyOptions: [String] = [], file: String = "FILE"
    ) {
        (self.options, self.file) = (options, file)
        policy = linted.policy
        authority = linted.authority
        judge = FragilityJudge(
            families: linted.families, isPublicRoot: { linted.authority(Pin(.publicKey($0))) != nil },
            history: { KeyHistory.of($0, in: linted.histories) }, serverOptions: options, familyOptions: familyOptions)
        self.now = now
        root = try? JSONDocument.policy(linted.json).root
    }

    /// Connects once; nothing is sent but the handshake.
    ///
    /// - Throws: an error if the command line cannot be used. A server that cannot be reached is an entry.
    func look(
        at endpoint: ServerEndpoint, _ validator: PathValidator, _ identity: ClientIdentity?, _ invocation: Invocation
    ) throws(ToolError) -> (server: LintedServer, problems: [LintProblem]) {
        let handshake = try LiveHandshake(endpoint, invocation)
        let verdict = LiveVerdict(
            of: endpoint, by: policy, validator: validator, instant: now, identity: identity, families: families)
        let facts: CheckFacts
        do throws(ToolError) {
            facts = try verdict.facts(of: handshake)
        } catch {
            guard error.exitCode == .unreachable else { throw error }
            let rule = policy.rule(for: endpoint)?.index
            let entry = entry(
                .error, .unreachable, endpoint, rule: rule, error.message, help: error.hint ?? "check the host and port"
            )
            return (LintedServer(endpoint: endpoint, decision: nil), [entry])
        }
        facts.connection?.close()
        let fragility = fragility(of: facts)
        let server = LintedServer(endpoint: endpoint, decision: facts.decision, fragility: fragility)
        return (server, entries(on: facts, fragility))
    }

    /// Returns the problems of a server that was asked.
    func entries(on facts: CheckFacts, _ fragility: Fragility?) -> [LintProblem] {
        verdict(facts) + future(facts, fragility) + circumstances(facts)
    }

    /// Returns the reason why the pins that match a server will not match for long; `nil` if there is none.
    ///
    /// - Parameter connectTo: the place that was connected to, if it is another.
    func fragility(of facts: CheckFacts, connectTo: ServerEndpoint? = nil) -> Fragility? {
        guard case .trusted(.pinMatched) = facts.decision, let host = facts.host else { return nil }
        let path = facts.positions.onPath
        let keys = path.compactMap(\.certificate?.publicKeyPin)
        guard let leaf = path.first?.certificate, keys.count == path.count else { return nil }
        return judge.judge(
            host,
            on: FragilityJudge.Path(
                server: AuditServer(endpoint: facts.endpoint, connectTo: connectTo), keys: keys,
                fingerprint: leaf.fingerprint, validity: leaf.validity, now: facts.instant))
    }

    /// Returns the problem of a pin that is known to end. Problems of the file are listed without a server.
    private func future(_ facts: CheckFacts, _ fragility: Fragility?) -> [LintProblem] {
        guard let fragility, fragility.isProblem else { return [] }
        return [
            entry(
                .warning, .fragilePin, facts.endpoint, rule: facts.rule?.index, list: "pins",
                "\(fragility.message) (\(facts.endpoint))", help: fragility.remedy)
        ]
    }

    // MARK: The verdict

    private func verdict(_ facts: CheckFacts) -> [LintProblem] {
        let endpoint = facts.endpoint
        switch facts.decision {
        case .rejected(.invalidPath(let failure)): return [invalidPath(facts, failure)]
        case .trusted(.pinMatched): return matched(facts)
        // Expired pins are a problem of the file, which is listed without a server.
        case let decision where decision.code == .pinsExpired: return []
        case let decision where decision.mismatch != nil:
            return [mismatch(facts, decision.isTrusted ? .warning : .error)]
        case .rejected where facts.rule == nil:
            return [noRule(endpoint, .error, "no rule covers \(endpoint), so apps refuse it")]
        case .trusted where facts.rule == nil:
            return [noRule(endpoint, .warning, "no rule covers \(endpoint): nothing is pinned there")]
        case .rejected(let rejection):
            return [
                entry(
                    .error, .mismatch, endpoint, rule: facts.rule?.index, "apps refuse \(endpoint): \(rejection)",
                    help: rejection.advice.remedy)
            ]
        case .trusted: return []
        }
    }

    private func command(_ name: String, _ endpoint: ServerEndpoint, _ words: String...) -> String {
        Invocation.line(["pintle", name, "\(endpoint)"] + words + options)
    }

    private func noRule(_ endpoint: ServerEndpoint, _ severity: LintProblem.Severity, _ message: String) -> LintProblem
    {
        entry(
            severity, .noRule, endpoint, rule: nil, message,
            help: "add one: " + command("pin", endpoint, "--as", "policy"))
    }

    private func mismatch(_ facts: CheckFacts, _ severity: LintProblem.Severity) -> LintProblem {
        let leaf = facts.positions.onPath.first
        var pinned: Set<String> = []
        for pin in (facts.host?.pins ?? []) + (facts.host?.backupPins ?? []) {
            pinned.insert(pin.key == nil ? "certificates" : "keys")
        }
        // A fingerprint does not identify the key: a renewal with the same key changes it too.
        let hasFingerprints = pinned.contains("certificates")
        var served = leaf?.certificate.map { "; its own key is \($0.publicKeyPin)" } ?? ""
        if hasFingerprints, let leaf { served += "; its certificate is \(CertificatePin(certificate: leaf.der))" }
        let change = hasFingerprints ? "renewed the certificate, pin its key" : "changed the key, add its pin"
        return entry(
            severity, .mismatch, facts.endpoint, rule: facts.rule?.index, list: "pins",
            "\(facts.endpoint) shows none of the pinned "
                + "\(pinned.sorted().reversed().joined(separator: " and "))\(served)",
            help: "if you \(change); else look from another network: " + command("pin", facts.endpoint))
    }

    private func invalidPath(_ facts: CheckFacts, _ failure: PathFailure) -> LintProblem {
        if failure.code == .untrustedRoot, failure.unreadableIssuer == nil, let last = endOfChain(facts.positions),
            !last.isSelfIssued
        {
            return entry(
                .error, .missingIntermediate, facts.endpoint, rule: facts.rule?.index,
                "\(facts.endpoint) sends no certificate of \(last.issuer), and no root of that name is trusted",
                help: "let the server send its intermediates; a private root belongs in anchors.include")
        }
        return entry(
            .error, .invalidPath, facts.endpoint, rule: facts.rule?.index,
            "the path of \(facts.endpoint) is invalid: \(failure.code.rawValue): "
                + [failure.primary, failure.unreadableIssuer].compactMap { $0?.text }.joined(separator: "; "),
            help: "pins are not compared until that is fixed: " + command("check", facts.endpoint, "--policy", file))
    }

    /// Returns the last certificate that can be reached from the leaf through the chain that was sent.
    private func endOfChain(_ positions: PathPositions) -> Certificate? {
        let sent = positions.sent.compactMap(\.certificate)
        guard var last = sent.first else { return nil }
        for _ in sent {
            guard !last.isSelfIssued, let next = sent.first(where: { $0.subjectDER == last.issuerDER }) else { break }
            last = next
        }
        return last
    }

    private func matched(_ facts: CheckFacts) -> [LintProblem] {
        guard let host = facts.host, let rule = facts.rule?.index else { return [] }
        let path = facts.positions.onPath
        var entries: [LintProblem] = []
        let inUse = host.pins.filter(path.isMatched)
        // The authority of the path has several roots, of which a path has one.
        let issuers = Set(path.compactMap { $0.certificate.flatMap { families.family(ofRoot: $0.publicKeyPin)?.id } })
        func isOtherRoot(_ pin: Pin) -> Bool {
            guard pin.position != .leaf, let key = pin.key else { return false }
            return families.family(ofRoot: key).map { issuers.contains($0.id) } ?? false
        }
        if inUse.isEmpty {
            let matched = host.backupPins.filter(path.isMatched)
            if matched.allSatisfy({ facts.authority(ofBackup: $0) != nil }) {
                return sharedAuthorityEntries(facts, host, path, rule)
            }
            entries.append(
                entry(
                    .warning, .onBackup, facts.endpoint, rule: rule, list: "backupPins",
                    "\(facts.endpoint) has moved to a backup pin: there is no backup any more",
                    help: "make a new key, keep it offline, add its pin: pintle pin backup.key"))
        } else {
            for (index, pin) in host.pins.enumerated() where !inUse.contains(pin) && !isOtherRoot(pin) {
                entries.append(
                    entry(
                        .warning, .unmatchedPin, facts.endpoint, rule: rule, list: "pins", pin: index,
                        "\(pin) matches nothing on the path of \(facts.endpoint)",
                        help: "if no other server has that key, it is a backup or unused: move or remove it")
                )
            }
            for backup in facts.backupsInUse {
                let index = host.backupPins.firstIndex(of: backup.pin)
                entries.append(
                    entry(
                        .warning, .backupInUse, facts.endpoint, rule: rule, list: "backupPins", pin: index,
                        "the backup pin \(backup.pin) is \(backup.sentence)",
                        help: "a backup is another key, kept offline: pintle pin backup.key"))
            }
        }
        return entries + sharedAuthorityEntries(facts, host, path, rule)
    }

    private func sharedAuthorityEntries(
        _ facts: CheckFacts, _ host: PinnedHost, _ path: [PathPositions.Place], _ rule: Int
    ) -> [LintProblem] {
        guard let shared = sharedAuthority(host, path) else { return [] }
        return [
            entry(
                .warning, .sharedAuthority, facts.endpoint, rule: rule, list: "pins",
                "only keys under \(shared) match at \(facts.endpoint), which signs for everyone who asks",
                help: "pin a key of your own beside them")
        ]
    }

    /// Returns the public root, if the pins that match are keys under it of which the file does not show that.
    private func sharedAuthority(_ host: PinnedHost, _ path: [PathPositions.Place]) -> String? {
        let pins = host.pins + host.backupPins
        guard let root = path.last?.certificate, let leaf = path.first,
            !pins.contains(where: { leaf.isMatched(by: $0, depth: 0) })
        else { return nil }
        // The lint of the file judges pins of public roots. Audits would repeat that of every server, for ever.
        let isUnknown = pins.contains { pin in
            path.isMatched(by: pin)
                && families.family(of: pin) == nil && authority(pin) == nil
        }
        guard isUnknown else { return nil }
        return authority(Pin(.publicKey(root.publicKeyPin)))
    }

    // MARK: Beside the verdict

    private func circumstances(_ facts: CheckFacts) -> [LintProblem] {
        let path = facts.positions.onPath
        var entries: [LintProblem] = []
        if let failure = facts.clientCertificateFailure {
            entries.append(
                entry(
                    .warning, failure.wasShown ? .clientCertificateRefused : .clientCertificateRequired,
                    facts.endpoint, rule: facts.rule?.index, failure.message, help: failure.hint))
        }
        // The server does not send or renew the root.
        for place in path.dropLast() {
            if !place.isSent, let certificate = place.certificate {
                entries.append(
                    entry(
                        .warning, .missingIntermediate, facts.endpoint, rule: facts.rule?.index,
                        "\(facts.endpoint) does not send \(certificate.subject), which only this machine knows",
                        help: "let the server send it: other machines find no path"))
            }
            if let certificate = place.certificate, let text = horizon(of: certificate.validity) {
                entries.append(
                    entry(
                        .warning, .certificateEnds, facts.endpoint, rule: facts.rule?.index,
                        "the certificate of \(facts.endpoint) at \(place.position) \(text)",
                        help: "renew it; with the same key the pins stay as they are"))
            }
        }
        return entries
    }

    /// Returns `ends 2026-12-01, in 11 days: 12 % of its life is left`, in the last third of its life.
    private func horizon(of validity: Validity) -> String? {
        guard validity.contains(now), ValidityText.isInLastThird(validity, now: now) else { return nil }
        let life = validity.notAfter.timeIntervalSince(validity.notBefore)
        let share = life > 0 ? Int(validity.notAfter.timeIntervalSince(now) / life * 100) : 0
        let span = ValidityText.span(from: now, to: validity.notAfter)
        return "ends \(ValidityText.day(validity.notAfter)), in \(span): \(share) % of its life is left"
    }

    private func entry(
        _ severity: LintProblem.Severity, _ kind: LiveProblem, _ endpoint: ServerEndpoint, rule: Int?,
        list: StaticString? = nil, pin: Int? = nil, _ message: String, help: String
    ) -> LintProblem {
        var path = PolicyPath.root
        if let rule { path = .rule(rule)[list.map(String.init(describing:)) ?? "host"] }
        if let pin { path = path[pin] }
        var places = root.map(PolicyPlaces.init)
        let place = places?.value(at: path).place
        let problem = PolicyProblem(
            id: kind.rawValue, at: path, line: place?.line, column: place?.column, message: message, help: help)
        return LintProblem(severity: severity, problem: problem, server: endpoint.description)
    }
}
