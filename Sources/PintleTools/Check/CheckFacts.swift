internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient

/// The facts about one live server: the verdict, the path and the connection.
struct CheckFacts {
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
    /// The parameters of the connection, as far as the handshake got to them.
    let tls: NegotiatedTLS?
    /// The name of the alert that the server was sent.
    let alert: String?
    /// The answer to the server's CertificateRequest.
    let clientCertificate: ClientAuthentication.Answer
    /// The authorities whose keys are known; `nil` if nothing is said about backups.
    let families: AuthorityFamilies?
    /// The reason why the server ended the connection after the handshake, if it is the client's certificate.
    var clientCertificateFailure: ClientCertificateFailure?
}

extension CheckFacts {
    /// The facts in the order of the JSON. Those that do not apply are absent.
    static let all: [Fact<CheckFacts>] = [
        server, verdict, certificates, approvals, handshake,
    ].flatMap(\.self)

    private static let server: [Fact<CheckFacts>] = [
        Fact("host", "The server that was asked for") { $0.endpoint.host.description },
        Fact("port") { $0.endpoint.port },
    ]

    /// The verdict, and the rule that decided.
    static let verdict = TrustDecision.facts.map { $0.of(\CheckFacts.decision) } + ruling

    private static let ruling: [Fact<CheckFacts>] = [
        Fact("rule", "The rule that decided: its host, and its port if it has one") { $0.rule?.pattern },
        Fact("nearestMiss", "After a mismatch, the likeliest mistake, in words") {
            $0.decision.mismatch.flatMap { $0.rule == nil ? nil : $0.nearestMiss }
        },
    ]

    private static let certificates: [Fact<CheckFacts>] = [
        Fact("configuredPins", "The pins and backup pins of the rule") {
            (($0.host?.pins ?? []) + ($0.host?.backupPins ?? [])).map(\.description)
        },
        Fact("presentedCertificates", "The chain of the server", listing: PathPositions.Place.facts) {
            $0.positions.sent
        },
        Fact("validatedPath", "The path, empty if there is none", listing: PathPositions.Place.facts) {
            $0.positions.onPath
        },
    ]

    private static let approvals: [Fact<CheckFacts>] = [
        Fact(
            "approval", "The approval that decided, or that the server contradicts, as `pintle trust` has it",
            namesKeys: false, ApprovalText.facts
        ) { $0.text($0.approval) },
        Fact(
            "previousApproval", "An unknown host's approval that has ended or was revoked, as `pintle trust` has it",
            namesKeys: false, ApprovalText.facts
        ) { $0.text($0.unknownHost?.previous) },
        Fact(
            "approvalRecord",
            "For an unknown host, how much is known of earlier approvals: `complete`, `unreadable` or `lost`"
        ) { $0.unknownHost?.approvalRecord.rawValue },
        Fact("unacceptableFailure", "For an unknown host, a failure that an approval does not accept by itself") {
            $0.unknownHost?.unacceptableFailure?.code.rawValue
        },
        Fact(
            "exceptionsOfCertificate", "For an unknown host, `name-mismatch` or `expired`, if an approval can accept it"
        ) { $0.unknownHost?.exceptionsOfCertificate.map(\.rawValue).sorted().nonEmpty },
        Fact("backupsInUse", "Backup pins that the server already uses", listing: BackupInUse.facts) {
            $0.backupsInUse.nonEmpty
        },
    ]

    /// The facts of the connection.
    static let handshake: [Fact<CheckFacts>] = [
        Fact("tlsVersion", "The version and the cipher suite of the connection") { $0.tls?.version }
            .shown(as: "tls", isDetail: true) { facts in
                let group = facts.tls?.group.map { $0.isHybrid ? "\($0) (hybrid)" : "\($0) (not hybrid)" }
                let known = [facts.tls?.version, facts.tls?.cipherSuite, group].compactMap(\.self)
                return known.isEmpty ? [] : ["\(known.joined(separator: "  "))"]
            },
        Fact("cipherSuite") { $0.tls?.cipherSuite },
        Fact("keyExchangeGroup", "The group of the key exchange: `x25519`, `X25519MLKEM768`") {
            $0.tls?.keyExchangeGroup
        },
        Fact("address", "The address of the server") { $0.connection?.peerAddress },
        Fact("alert", "The alert that a refused server was sent") { $0.alert },
        Fact("clientCertificate", "If it asked for one", ClientAuthentication.Answer.Request.facts) {
            $0.clientCertificate.request(isEnd: $0.clientCertificateFailure != nil)
        }
        .shown(as: "client") { facts in
            if let failure = facts.clientCertificateFailure {
                return ["\(failure.message, .warning)", "\(failure.hint)"]
            }
            switch facts.clientCertificate {
            case .notAsked: return []
            case .shown(let identity, _, let misfits):
                let doubts = misfits.isEmpty ? "" : "; \(misfits.map(\.text).joined(separator: ", "))"
                return ["asked for a certificate, and took \(identity.fingerprint)\(doubts)"]
            case .withheld(let objection, let request, _):
                return ["asked for a certificate, and got none: \(objection.text)", "it accepts \(request)"]
            }
        },
    ]

    private func text(_ approval: TrustApproval?) -> ApprovalText? { approval.map { ApprovalText($0, at: instant) } }

    /// The approval that decided, or that the server contradicts.
    private var approval: TrustApproval? {
        switch decision {
        case .trusted(.userApproved(let approval)): approval
        case .rejected(.pinMismatch(let mismatch)): mismatch.approval?.approval
        default: nil
        }
    }

    private var unknownHost: UnknownHost? {
        if case .rejected(.unknownHost(let host)) = decision { host } else { nil }
    }
}

extension Collection {
    /// The collection, or `nil` if it is empty.
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}

extension ClientAuthentication.Answer {
    /// A server's request for a client certificate, and the answer.
    fileprivate struct Request {
        let request: ClientCertificateRequest
        let misfits: [IdentityMisfit]
        var shown: CertificatePin?
        var objection: ClientAuthentication.Objection?
        /// A Boolean value that indicates whether the server ended the connection for it.
        let isEnd: Bool

        static let facts: [Fact<Request>] = [
            Fact("shown") { $0.shown?.description }, Fact("withheld") { $0.objection?.code },
            Fact("misfits") { $0.misfits.map(\.rawValue).nonEmpty }, Fact("ended") { $0.isEnd ? true : nil },
            Fact("authorities") { $0.request.authorities }, Fact("authorityCount") { $0.request.authorityCount },
            Fact("keyTypes") { $0.request.keyTypes },
        ]
    }

    fileprivate func request(isEnd: Bool) -> Request? {
        switch self {
        case .notAsked: nil
        case .shown(let identity, let request, let misfits):
            Request(request: request, misfits: misfits, shown: identity.fingerprint, isEnd: isEnd)
        case .withheld(let objection, let request, let misfits):
            Request(request: request, misfits: misfits, objection: objection, isEnd: isEnd)
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
    /// A certificate that cannot be read has only a position and a hash.
    fileprivate static let facts: [Fact<PathPositions.Place>] = [
        Fact("position") { $0.position }, Fact("subject") { $0.certificate?.subject.description },
        Fact("issuer") { $0.certificate?.issuer.description },
        Fact("certificateSHA256") { CertificatePin(certificate: $0.der).description },
        Fact("spkiPin") { $0.certificate?.publicKeyPin.description },
        Fact("notAfter") { $0.certificate?.validity.notAfter },
    ]
}

/// A backup pin whose key or certificate the server uses already. A thief of the server's keys then has the backup too.
struct BackupInUse {
    let pin: Pin
    let position: String
    /// The depth on the validated path; `nil` if it was sent beside the path, or if there is no path.
    let depth: Int?

    fileprivate static let facts: [Fact<BackupInUse>] = [
        Fact("pin") { $0.pin.description }, Fact("position") { $0.position }, Fact("depth") { $0.depth },
    ]

    /// The problem in words, to print behind the pin.
    var sentence: String { "\(place): no backup" }

    var place: String { depth.map { "in the live chain at depth \($0)" } ?? "sent by the server, not on the path" }
}

extension CheckFacts {
    /// Returns the place where the server uses the key or certificate of this backup pin. The position of the pin does
    /// not count, because the key is in use in any case.
    func use(of pin: Pin) -> BackupInUse? {
        for (index, place) in positions.places.enumerated() where place.shows(pin.subject) {
            return BackupInUse(pin: pin, position: place.position, depth: place.isOnPath ? index : nil)
        }
        return nil
    }

    /// Returns the authority whose key a backup pin is: see ``AuthorityFamilies/authority(ofBackup:in:)``.
    func authority(ofBackup pin: Pin) -> AuthorityFamily? {
        host.flatMap { families?.authority(ofBackup: pin, in: $0) }
    }

    /// The backups in use that the owner of the server has to replace. Keys of authorities do not count.
    var backupsInUse: [BackupInUse] {
        host?.backupPins.filter { authority(ofBackup: $0) == nil }.compactMap(use) ?? []
    }
}
