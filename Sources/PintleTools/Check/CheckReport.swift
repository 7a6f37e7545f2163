internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleText

/// The report of `check`: the verdict first, the advice last.
struct CheckReport {
    let facts: CheckFacts
    let policy: PinningPolicy
    let invocation: Invocation

    /// The notes of the rule and its pins; `nil` without a rule.
    private let notes: RuleNotes?

    init(facts: CheckFacts, policy: PinningPolicy, invocation: Invocation) {
        (self.facts, self.policy, self.invocation) = (facts, policy, invocation)
        notes = facts.host.flatMap(policy.hosts.firstIndex(of:)).map { RuleNotes(policy, rule: $0) }
    }

    var report: Report {
        var report = Report()
        report.line(headline)
        report.gap()
        let advice = CheckAdvice(on: facts, policy, invocation)
        if let text = advice.text {
            report.prose("\(text)")
            report.gap()
        }
        addDetails(to: &report)
        report.add(CheckFacts.all, of: facts, showsDetails: invocation.isVerbose)
        report.next(advice.steps.map { "\($0)" })
        return report
    }

    /// `REJECTED   invalid-path   expired   example.com:443`
    var headline: Line {
        let word: Line =
            switch facts.decision {
            case .trusted(let basis): "\("trusted", basis.code.weight == .warning ? .warning : .good)"
            case .rejected: "\("REJECTED", .bad)"
            }
        var codes = facts.decision.reason
        if case .rejected(.invalidPath(let failure)) = facts.decision { codes += "   \(failure.code.rawValue)" }
        return "\(word)   \(codes)   \(facts.endpoint)"
    }

    /// Adds the facts that led to the verdict.
    private func addDetails(to report: inout Report) {
        switch facts.decision {
        case .trusted(.pinMatched(let match)):
            addRule(to: &report)
            addPath(matching: match, to: &report)
            addBackups(matching: match, to: &report)
        case .trusted(.hostNotPinned):
            addRule(to: &report)
            addPath(to: &report)
        case .trusted(.userApproved(let approval)):
            report.fact("rule", "none covers this host")
            let accepted = TrustApproval.AcceptedFailure.ordered.filter(approval.accepts.contains).map(\.rawValue)
            let forgiven = accepted.isEmpty ? "" : "; accepted: \(accepted.joined(separator: ", "))"
            let kind = ApprovalText.kind(approval)
            report.fact("store", "its \(kind) was approved \(ValidityText.day(approval.approvedAt))\(forgiven)")
            addPath(to: &report)
        case .trusted(.mismatchReportedOnly(let mismatch)), .rejected(.pinMismatch(let mismatch)):
            if let change = mismatch.approval { return add(change, to: &report) }
            addRule(to: &report)
            add(mismatch, to: &report)
        case .rejected(.unknownHost(let host)): add(host, to: &report)
        case .rejected(.invalidPath(let failure)) where !facts.rejectsTerms: add(failure, to: &report)
        default:
            addRule(to: &report)
            addPath(to: &report)
            if facts.decision.code == .pinsExpired { addBackups(to: &report) }
        }
    }

    private func addRule(to report: inout Report) {
        guard let rule = facts.rule, let host = facts.host else {
            return report.fact("rule", "none covers this host; \(Self.unpinned(policy.unpinnedHosts))")
        }
        report.fact("rule", "\(RuleText.match(rule)); \(RuleText.terms(of: host, now: facts.instant))")
        if let note = notes?.rule { report.fact("note", "\(note)") }
    }

    private static func unpinned(_ hosts: PinningPolicy.UnpinnedHosts) -> String {
        switch hosts {
        case .systemTrust: "such hosts are left to the system's trust"
        case .reject: "such hosts are refused"
        case .askUser: "such hosts are left to a person"
        }
    }

    private func addPath(matching match: PinMatch? = nil, to report: inout Report) {
        for (depth, place) in facts.positions.onPath.enumerated() {
            let isMatch = match?.depth == depth
            let mark = isMatch ? match.map { "  <- \(name(of: $0))" } ?? "" : ""
            let pin = Line(Self.pin(at: place), isMatch ? .strong : nil)
            report.fact(
                depth == 0 ? "path" : "",
                "\(Self.column(place.position))\(pin)\(mark)\(place.isSent ? "" : "  not sent")")
        }
        for place in facts.positions.places where place.position == "extra" {
            let name = place.certificate.map { "\($0.subject)" } ?? "(cannot be read)"
            report.fact("extra", .name(name, after: "  sent, not on the path", besides: 26))
        }
    }

    private static func pin(at place: PathPositions.Place) -> String {
        place.certificate.map { "\($0.publicKeyPin)" } ?? "(no readable key)"
    }

    private static func column(_ position: String) -> String { TextLayout.padded(position, to: 6) }

    /// `pin 1`, `backup pin 2`, by the order in the policy.
    private func name(of match: PinMatch) -> String {
        let list = match.isBackup ? facts.host?.backupPins : facts.host?.pins
        let number = (list?.firstIndex(of: match.pin)).map { " \($0 + 1)" } ?? ""
        let kind = match.pin.key == nil ? "certificate " : ""
        let note = notes?[match.pin].map { " (\($0))" } ?? ""
        return kind + (match.isBackup ? "backup pin" : "pin") + number + note
    }

    /// Adds the backup pins, except the pin that matched, which stands beside the path.
    private func addBackups(matching match: PinMatch? = nil, to report: inout Report) {
        for pin in facts.host?.backupPins ?? [] where pin != match?.pin {
            let use = facts.use(of: pin)
            let authority = facts.authority(ofBackup: pin).map { authority in
                Line("a key of \(authority.name)" + (use.map { ", \($0.place)" } ?? ""))
            }
            let state = authority ?? use.map { Line($0.sentence, .warning) } ?? "not in use, as it should be"
            report.fact("backup", "\(RuleText.pin(pin, note: notes?[pin]))  \(state)")
        }
    }

    // MARK: Rejected

    private func add(_ mismatch: PinMismatch, to report: inout Report) {
        for (index, place) in facts.positions.onPath.enumerated() {
            let label: Line = index == 0 ? "served" : ""
            let pin: Line = "\(Self.column(place.position))\(Self.pin(at: place))"
            if let certificate = place.certificate {
                report.fact(label, .name(before: "\(pin)  ", "\(certificate.subject)", besides: 70))
            } else {
                report.fact(label, pin)
            }
            if mismatch.pinsCertificates {
                report.fact("", "\(Self.column(""))\(CertificatePin(certificate: place.der))")
            }
        }
        for (index, pin) in mismatch.pins.enumerated() {
            report.fact(index == 0 ? "wanted" : "", "pin     \(RuleText.pin(pin, note: notes?[pin]))")
        }
        for pin in mismatch.backupPins {
            let isOwn = facts.authority(ofBackup: pin) == nil
            let use = isOwn ? facts.use(of: pin).map { Line("  ") + Line($0.sentence, .warning) } ?? "" : ""
            report.fact("", "backup  \(RuleText.pin(pin, note: notes?[pin]))\(use)")
        }
        report.fact("nearest", "\(mismatch.nearestMiss)")
    }

    private func add(_ host: UnknownHost, to report: inout Report) {
        let system =
            host.pathFailure.map { "\($0.code.rawValue); system trust would refuse it" } ?? "the system would trust it"
        report.line("  \(system); \(Self.history(of: host))")
        if !host.exceptionsOfCertificate.isEmpty {
            for sentence in FirstContact.exceptions(of: host) { report.line("  \(sentence)") }
        } else if let failure = host.unacceptableFailure {
            report.line("  it cannot be approved: \(failure.code.rawValue), \(failure.primary.text)")
        }
        let (first, second) = host.leaf.fingerprint.rows
        report.fact("subject", .name("\(host.leaf.subject)", besides: 10))
        addNames(of: host.leaf, to: &report)
        if let purposes = CertificateFacts(host.leaf).purposes { report.fact("purpose", .names(purposes)) }
        report.fact("valid", ValidityText.period(host.leaf.validity, now: facts.instant))
        report.fact("key", "\(host.leaf.publicKey)  \(host.leaf.publicKeyPin)")
        report.fact("cert", ["\(first)", "\(second)"])
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

    /// Adds the alarm about a changed key: the approved one and the present one.
    private func add(_ change: ApprovalMismatch, to report: inout Report) {
        let what: String
        let (before, now): (String, String)
        switch change.approval.subject {
        case .certificate(let pin): (what, before, now) = ("CERTIFICATE", "\(pin)", "\(change.leaf.fingerprint)")
        case .publicKey(let pin): (what, before, now) = ("KEY", "\(pin)", "\(change.leaf.publicKeyPin)")
        }
        report.line("  \("THE \(what) OF A SERVER YOU APPROVED HAS CHANGED.", .bad)")
        report.line("  approved  \(before)  on \(ValidityText.day(change.approval.approvedAt))")
        report.line("  now       \(now)")
    }

    private func add(_ failure: PathFailure, to report: inout Report) {
        let depth = failure.primary.depth ?? 0
        if let place = facts.positions.place(atDepth: depth), let certificate = place.certificate {
            let validity = certificate.validity
            let days = "valid \(ValidityText.day(validity.notBefore)) to \(ValidityText.day(validity.notAfter))"
            report.fact(
                "failed",
                .name(
                    before: "\(place.position)  ", "\(certificate.subject)", after: "   \(days, .dim)", besides: 50))
            if failure.code == .nameMismatch { addNames(of: certificate, to: &report) }
            if failure.code == .untrustedRoot || failure.code == .selfSigned {
                report.fact("issuer", .name("\(certificate.issuer)", besides: 10))
            }
        }
        report.fact("raw", "\(failure.primary.rawText)")
        for finding in failure.detail {
            report.fact("also", "\(finding.code.rawValue): \(finding.rawText)")
        }
    }

    private func addNames(of certificate: Certificate, to report: inout Report) {
        report.fact("names", .names(certificate.names.isEmpty ? ["(none)"] : certificate.names))
    }
}
