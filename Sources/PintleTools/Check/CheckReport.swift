internal import Pintle
internal import PintleOpenSSL

/// The text of `check`: the verdict first, the advice last.
struct CheckReport {
    let findings: CheckFindings
    let policy: PinningPolicy
    let invocation: Invocation
    /// The notes of the rule and its pins; `nil` without a rule.
    private let notes: RuleNotes?

    init(findings: CheckFindings, policy: PinningPolicy, invocation: Invocation) {
        self.findings = findings
        self.policy = policy
        self.invocation = invocation
        notes = findings.host.flatMap(policy.hosts.firstIndex(of:)).map { RuleNotes(policy, rule: $0) }
    }

    var console: Console { invocation.console }
    var palette: Palette { console.palette }

    func print() {
        console.print(headline)
        console.print()
        switch findings.decision {
        case .trusted(let basis): explain(basis)
        case .rejected(let rejection): explain(rejection)
        }
        if invocation.isVerbose { printConnection() }
        let advice = CheckAdvice(findings: findings, invocation: invocation).lines
        guard !advice.isEmpty else { return }
        console.print()
        for (index, line) in advice.enumerated() { console.print((index == 0 ? "next: " : "      ") + line) }
    }

    /// `REJECTED   invalid-path   expired   example.com:443`
    var headline: String {
        var words: [String]
        switch findings.decision {
        case .trusted(.mismatchReportedOnly), .trusted(.pinsExpired): words = [palette.warning("trusted")]
        case .trusted: words = [palette.good("trusted")]
        case .rejected: words = [palette.bad("REJECTED")]
        }
        words.append(findings.decision.reason)
        if case .rejected(.invalidPath(let failure)) = findings.decision { words.append(failure.code.rawValue) }
        words.append("\(findings.endpoint)")
        return words.joined(separator: "   ")
    }

    /// `tls     TLS 1.3  TLS_AES_256_GCM_SHA384  X25519MLKEM768 (hybrid)`
    private func printConnection() {
        let group = findings.keyExchangeGroup.map { $0.isHybrid ? "\($0) (hybrid)" : "\($0) (not hybrid)" }
        let facts = [findings.connection?.protocolVersion.description, findings.connection?.cipher, group]
        guard case let known = facts.compactMap(\.self), !known.isEmpty else { return }
        field("tls", known.joined(separator: "  "))
    }

    // MARK: Trusted

    private func explain(_ basis: TrustBasis) {
        switch basis {
        case .pinMatched(let match):
            printRule()
            printPath(matching: match)
            printBackups(matching: match)
        case .hostNotPinned:
            printRule()
            printPath()
        case .pinsExpired(let expiration):
            prose("The path is valid. Its pins were not compared: \(expiration).")
            printRule()
            printPath()
            printBackups()
        case .userApproved(let approval):
            field("rule", "none covers this host")
            let accepted = TrustApproval.AcceptedFailure.ordered.filter(approval.accepts.contains).map(\.rawValue)
            let forgiven = accepted.isEmpty ? "" : "; accepted: \(accepted.joined(separator: ", "))"
            field(
                "store",
                "its \(ApprovalText.kind(approval)) was approved \(ValidityText.day(approval.approvedAt))\(forgiven)")
            printPath()
        case .mismatchReportedOnly(let mismatch):
            prose(
                "The path is valid, but no key on it is pinned. The rule only reports: an enforcing one would refuse.")
            printRule()
            printMismatch(mismatch)
        }
    }

    private func printRule() {
        guard let rule = findings.rule, let host = findings.host else {
            return field("rule", "none covers this host; " + Self.unpinned(policy.unpinnedHosts))
        }
        field("rule", RuleText.match(rule) + "; " + RuleText.terms(of: host, now: findings.instant))
        if let note = notes?.rule { field("note", SafeText.escape(note)) }
    }

    private static func unpinned(_ hosts: PinningPolicy.UnpinnedHosts) -> String {
        switch hosts {
        case .systemTrust: "such hosts are left to the system's trust"
        case .reject: "such hosts are refused"
        case .askUser: "such hosts are left to a person"
        }
    }

    private func printPath(matching match: PinMatch? = nil) {
        for (depth, place) in findings.positions.onPath.enumerated() {
            var mark = ""
            if let match, match.depth == depth { mark = "  <- " + name(of: match) }
            if !place.isSent { mark += "  not sent" }
            let pin = place.certificate.map { "\($0.publicKeyPin)" } ?? "(no readable key)"
            field(
                depth == 0 ? "path" : "",
                TextLayout.padded(place.position, to: 6) + (mark.hasPrefix("  <-") ? palette.strong(pin) : pin) + mark)
        }
        for place in findings.positions.places where place.position == "extra" {
            let name = place.certificate.map { "\($0.subject)" } ?? "(cannot be read)"
            field("extra", shortened(name, beside: 26) + "  sent, not on the path")
        }
    }

    /// `pin 1`, `backup pin 2`, by the order in the policy.
    private func name(of match: PinMatch) -> String {
        let list = match.isBackup ? findings.host?.backupPins : findings.host?.pins
        let number = (list?.firstIndex(of: match.pin)).map { " \($0 + 1)" } ?? ""
        let kind = if case .certificate = match.pin.subject { "certificate " } else { "" }
        let note = notes?[match.pin].map { " (\($0))" } ?? ""
        return kind + (match.isBackup ? "backup pin" : "pin") + number + note
    }

    /// Prints the backup pins, except the pin that matched, which is printed with the path.
    private func printBackups(matching match: PinMatch? = nil) {
        for pin in findings.host?.backupPins ?? [] where pin != match?.pin {
            let use = findings.use(of: pin)
            let state = use.map { palette.warning($0.sentence) } ?? "not in use, as it should be"
            field("backup", "\(RuleText.pin(pin, note: notes?[pin]))  \(state)")
        }
    }

    // MARK: Rejected

    private func explain(_ rejection: TrustRejection) {
        switch rejection {
        case .pinMismatch(let mismatch) where mismatch.approval != nil:
            mismatch.approval.map(printChange)
        case .pinMismatch(let mismatch):
            // A fingerprint does not identify the key: a renewal with the same key changes it too.
            let (pinned, change) =
                pinsCertificates(mismatch)
                ? (
                    "none of the pinned certificates and keys is on it",
                    "certificate was renewed or its key has changed"
                )
                : ("no key on it is pinned", "key has changed")
            prose(
                """
                The certificate path is valid, but \(pinned). Either the server's \(change), or something in between holds \
                a certificate that this machine trusts.
                """)
            printRule()
            printMismatch(mismatch)
        case .pinsExpired(let expiration):
            prose("The path is valid, but \(expiration), and the rule refuses everything from then on.")
            printRule()
            printPath()
            printBackups()
        case .hostNotAllowed:
            prose(
                "The policy allows only the hosts that it names, and this host is not among them. Nothing more was examined."
            )
            printRule()
        case .unknownHost(let host):
            printUnknown(host)
        case .invalidPath(let failure):
            printInvalid(failure)
        }
    }

    private func pinsCertificates(_ mismatch: PinMismatch) -> Bool {
        (mismatch.pins + mismatch.backupPins).contains { pin in
            if case .certificate = pin.subject { true } else { false }
        }
    }

    private func printMismatch(_ mismatch: PinMismatch) {
        for (index, place) in findings.positions.onPath.enumerated() {
            let pin = place.certificate.map { "\($0.publicKeyPin)" } ?? "(no readable key)"
            let name = place.certificate.map { "  \(shortened("\($0.subject)", beside: 70))" } ?? ""
            field(index == 0 ? "served" : "", TextLayout.padded(place.position, to: 6) + pin + name)
            if pinsCertificates(mismatch) {
                field("", TextLayout.padded("", to: 6) + "\(CertificatePin(certificate: place.der))")
            }
        }
        for (index, pin) in mismatch.pins.enumerated() {
            field(index == 0 ? "wanted" : "", "pin     " + RuleText.pin(pin, note: notes?[pin]))
        }
        for pin in mismatch.backupPins {
            let use = findings.use(of: pin).map { "  " + palette.warning($0.sentence) } ?? ""
            field("", "backup  " + RuleText.pin(pin, note: notes?[pin]) + use)
        }
        field("nearest", mismatch.nearestMiss)
    }

    private func printUnknown(_ host: UnknownHost) {
        let system =
            host.pathFailure.map { "\($0.code.rawValue); system trust would refuse it" } ?? "the system would trust it"
        console.print("  \(system); \(Self.history(of: host))")
        if !host.exceptionsOfCertificate.isEmpty {
            for sentence in FirstContact.exceptions(of: host) { console.print("  \(sentence)") }
        } else if let failure = host.unacceptableFailure {
            console.print("  it cannot be approved: \(failure.code.rawValue), \(failure.primary.text)")
        }
        let (first, second) = host.leaf.fingerprint.rows
        field("subject", shortened("\(host.leaf.subject)", beside: 10))
        printNames(of: host.leaf)
        if let purposes = CertificateFacts(host.leaf).purposes { fieldList("purpose", purposes) }
        field("valid", ValidityText.period(host.leaf.validity, now: findings.instant, palette: palette))
        field("key", "\(host.leaf.publicKey)  \(host.leaf.publicKeyPin)")
        field("cert", first)
        field("", second)
    }

    private static func history(of host: UnknownHost) -> String {
        guard let previous = host.previous else {
            return switch host.approvalRecord {
            case .complete: "never approved before"
            case .unreadable: "earlier approvals cannot be read"
            case .lost: "earlier approvals may be lost"
            }
        }
        let other = host.wasKnownWithAnotherKey ? ", for another certificate" : ""
        if let revoked = previous.revokedAt { return "approved once\(other), and revoked \(ValidityText.day(revoked))" }
        return "approved until \(previous.expiresAt.map(ValidityText.day) ?? "now")\(other)"
    }

    /// Prints the alarm about a changed key: the approved one and the present one.
    private func printChange(_ change: ApprovalMismatch) {
        let what: String
        let (before, now): (String, String)
        switch change.approval.subject {
        case .certificate(let pin): (what, before, now) = ("CERTIFICATE", "\(pin)", "\(change.leaf.fingerprint)")
        case .publicKey(let pin): (what, before, now) = ("KEY", "\(pin)", "\(change.leaf.publicKeyPin)")
        }
        console.print("  " + palette.bad("THE \(what) OF A SERVER YOU APPROVED HAS CHANGED."))
        console.print("  approved  \(before)  on \(ValidityText.day(change.approval.approvedAt))")
        console.print("  now       \(now)")
    }

    private func printInvalid(_ failure: PathFailure) {
        guard !findings.rejectsTerms else {
            prose(PathFailureText.sentence(failure, of: findings) + " Pins were not compared.")
            printRule()
            printPath()
            return
        }
        let asksPeople = findings.rule == nil && policy.unpinnedHosts == .askUser
        prose(
            PathFailureText.sentence(failure, of: findings)
                + (asksPeople
                    ? " An approval cannot accept that."
                    : " Pins were not compared: a pin never makes an invalid path acceptable."))
        let depth = failure.primary.depth ?? 0
        if let place = findings.positions.place(atDepth: depth), let certificate = place.certificate {
            let days =
                "valid \(ValidityText.day(certificate.validity.notBefore)) to "
                + ValidityText.day(certificate.validity.notAfter)
            field(
                "failed", "\(place.position)  \(shortened("\(certificate.subject)", beside: 50))   \(palette.dim(days))"
            )
            if failure.code == .nameMismatch {
                printNames(of: certificate)
            }
            if failure.code == .untrustedRoot || failure.code == .selfSigned {
                field("issuer", shortened("\(certificate.issuer)", beside: 10))
            }
        }
        field("raw", PathFailureText.raw(failure.primary))
        for finding in failure.detail { field("also", "\(finding.code.rawValue): " + PathFailureText.raw(finding)) }
    }

    // MARK: Lines

    private func prose(_ text: String) {
        for line in TextLayout.wrapped(text, width: min(console.width, 90) - 2) { console.print("  " + line) }
        console.print()
    }

    private func field(_ label: String, _ value: String) {
        console.print("  " + TextLayout.padded(label, to: 8) + value)
    }

    private func printNames(of certificate: Certificate) {
        let names = (certificate.subjectAlternativeNames ?? []).map(\.description)
        fieldList("names", names.isEmpty ? ["(none)"] : names)
    }

    /// Prints one line, or with `-v` all items.
    private func fieldList(_ label: String, _ items: [String]) {
        let items = items.map(SafeText.claim)
        let width = console.width - 10
        guard invocation.isVerbose else {
            return field(label, TextLayout.list(items, width: width, ellipsis: console.ellipsis))
        }
        for (index, line) in TextLayout.wrapped(items.joined(separator: ", "), width: width).enumerated() {
            field(index == 0 ? label : "", line)
        }
    }

    private func shortened(_ name: String, beside columns: Int) -> String {
        let name = SafeText.claim(name)
        return invocation.isVerbose
            ? name : TextLayout.shortened(name, to: max(16, console.width - columns), ellipsis: console.ellipsis)
    }
}
