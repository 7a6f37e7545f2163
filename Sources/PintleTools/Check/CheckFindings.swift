internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

/// A handshake in which a policy decides.
struct LiveCheck {
    let policy: PinningPolicy
    let validator: PathValidator
    let instant: Date
    let handshake: LiveHandshake

    /// - Parameter approvals: the approvals of servers that no rule covers.
    /// - Throws: an error if no certificate arrived, or if the server broke off a handshake whose certificate was accepted:
    ///   it has not proved that it holds the key.
    func run(_ approvals: TrustApprovals = .none) throws(ToolError) -> CheckFindings {
        let verdict = LiveVerdict(
            of: handshake.endpoint, by: policy, validator: validator, instant: instant, approvals: approvals)
        return try verdict.findings(handshake.run(judge: verdict.judge))
    }
}

/// The verdict of a policy about one server, inside a handshake that the caller makes.
final class LiveVerdict {
    private let endpoint: ServerEndpoint
    private let policy: PinningPolicy
    private let validator: PathValidator
    private let instant: Date
    private let approvals: TrustApprovals
    private var evaluation: TrustEvaluation?

    init(
        of endpoint: ServerEndpoint, by policy: PinningPolicy, validator: PathValidator, instant: Date,
        approvals: TrustApprovals = .none
    ) {
        self.endpoint = endpoint
        self.policy = policy
        self.validator = validator
        self.instant = instant
        self.approvals = approvals
    }

    func judge(_ chain: borrowing PeerChain) -> HandshakeVerdict {
        let evaluation = policy.evaluate(
            endpoint, chain, approvals: approvals, at: instant, validator: validator)
        self.evaluation = evaluation
        return evaluation.decision.handshakeVerdict
    }

    /// - Throws: the errors of ``LiveCheck/run(_:)``.
    func findings(_ outcome: LiveHandshake.Outcome) throws(ToolError) -> CheckFindings {
        if let evaluation {
            if evaluation.decision.isTrusted, let error = outcome.error { throw Self.broken(error) }
            return findings(evaluation, outcome)
        }
        guard let error = outcome.error else {
            throw ToolError(
                exitCode: .unreachable, code: "no-certificate", message: "\(endpoint) showed no certificate")
        }
        guard let failure = error.pathFailure else { throw ToolError(error) }
        return findings(TrustEvaluation(of: endpoint, unreadable: failure), outcome)
    }

    private static func broken(_ error: HandshakeError) -> ToolError {
        var failure = ToolError(error)
        failure.exitCode = .unreachable
        failure.hint = "the certificate was acceptable, but the server did not prove that it holds its key"
        return failure
    }

    private func findings(_ evaluation: TrustEvaluation, _ outcome: LiveHandshake.Outcome) -> CheckFindings {
        let rule = policy.rule(for: endpoint)
        return CheckFindings(
            endpoint: endpoint, instant: instant, evaluation: evaluation, rule: rule,
            host: rule.map { policy.hosts[$0.index] },
            positions: PathPositions(path: evaluation.path, presented: outcome.presented ?? []),
            connection: outcome.connection, alert: outcome.error?.alert)
    }
}

/// The findings of `check`.
struct CheckFindings {
    let endpoint: ServerEndpoint
    /// The instant of the decision.
    let instant: Date
    let evaluation: TrustEvaluation
    var decision: TrustDecision { evaluation.decision }
    let rule: MatchedRule?
    /// The content of the rule.
    let host: PinnedHost?
    let positions: PathPositions
    /// The connection, if the verdict let the handshake end well.
    let connection: TLSConnection?
    /// The name of the alert that the server was sent.
    let alert: String?
}

extension CheckFindings {
    /// `{host, port, decision, reason, pathFailure?, raw?, detail?, rule?, matchedPin?, depth?, configuredPins,
    /// presentedCertificates, validatedPath, approval?, previousApproval?, approvalRecord?, unacceptableFailure?,
    /// backupsInUse?}`, and the other results of the handshake.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("host", endpoint.host.description)
            json.member("port", Int(endpoint.port))
            json.write(decision)
            json.member("rule", rule?.pattern)
            if decision.mismatch?.rule != nil {
                json.member("nearestMiss", decision.mismatch?.nearestMiss.description)
            }
            json.member("configuredPins", ((host?.pins ?? []) + (host?.backupPins ?? [])).map(\.description))
            json.array("presentedCertificates") { json in
                for place in positions.sent { place.write(to: &json) }
            }
            json.array("validatedPath") { json in
                for place in positions.onPath { place.write(to: &json) }
            }
            writeApprovals(to: &json)
            if !backupsInUse.isEmpty {
                json.array("backupsInUse") { json in
                    for use in backupsInUse { use.write(to: &json) }
                }
            }
            json.member("tlsVersion", connection?.protocolVersion.description)
            json.member("address", connection?.peerAddress)
            json.member("alert", alert)
        }
        return json
    }

    /// Writes the approvals of this server: the one that decided, or the one that has ended.
    private func writeApprovals(to json: inout JSONWriter) {
        func write(_ key: String, _ approval: TrustApproval) {
            json.key(key)
            ApprovalText.write(approval, at: instant, to: &json)
        }
        switch decision {
        case .trusted(.userApproved(let approval)): write("approval", approval)
        case .rejected(.pinMismatch(let mismatch)): mismatch.approval.map { write("approval", $0.approval) }
        case .rejected(.unknownHost(let host)):
            host.previous.map { write("previousApproval", $0) }
            json.member("approvalRecord", host.approvalRecord.rawValue)
            json.member("unacceptableFailure", host.unacceptableFailure?.code.rawValue)
            if !host.exceptionsOfCertificate.isEmpty {
                json.member("exceptionsOfCertificate", host.exceptionsOfCertificate.map(\.rawValue).sorted())
            }
        default: break
        }
    }
}

extension TrustDecision {
    /// The mismatch, enforced or only reported.
    var mismatch: PinMismatch? {
        switch self {
        case .rejected(.pinMismatch(let mismatch)), .trusted(.mismatchReportedOnly(let mismatch)): mismatch
        default: nil
        }
    }
}

extension PathPositions.Place {
    /// Writes `{position, subject, issuer, certificateSHA256, spkiPin, notAfter}`; only the hash for a certificate that
    /// cannot be read.
    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("position", position)
            json.member("subject", certificate?.subject.description)
            json.member("issuer", certificate?.issuer.description)
            json.member("certificateSHA256", CertificatePin(certificate: der).description)
            json.member("spkiPin", certificate?.publicKeyPin.description)
            json.member("notAfter", certificate.map { RFC3339.string(from: $0.validity.notAfter) })
        }
    }
}

/// A backup pin whose key or certificate the server uses already. A thief of the server's keys then has the backup too.
struct BackupInUse {
    let pin: Pin
    let position: String
    /// The depth on the validated path; `nil` if it was sent beside the path, or if there is no path.
    let depth: Int?

    /// The problem in words, to print behind the pin.
    var sentence: String {
        depth.map { "in the live chain at depth \($0): no backup" }
            ?? "sent by the server, not on the path: no backup"
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("pin", pin.description)
            json.member("position", position)
            json.member("depth", depth)
        }
    }
}

extension CheckFindings {
    /// Returns the place where the server uses the key or certificate of this backup pin. The position of the pin does not
    /// count, because the key is in use in any case.
    func use(of pin: Pin) -> BackupInUse? {
        for (index, place) in positions.places.enumerated() where place.shows(pin.subject) {
            return BackupInUse(pin: pin, position: place.position, depth: place.isOnPath ? index : nil)
        }
        return nil
    }

    var backupsInUse: [BackupInUse] { host?.backupPins.compactMap(use) ?? [] }
}

extension PathPositions.Place {
    fileprivate func shows(_ subject: Pin.Subject) -> Bool {
        switch subject {
        case .publicKey(let pin): certificate?.publicKeyPin == pin
        case .certificate(let pin): CertificatePin(certificate: der) == pin
        }
    }
}
