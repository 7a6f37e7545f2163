internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The result of an audit for one server, which becomes a line of NDJSON. ``AuditRecord`` reads it.
struct AuditResult {
    let server: AuditServer
    let instant: Date
    let milliseconds: Int
    let basis: AuditBasis
    let answer: Answer

    enum Answer {
        case decided(CheckFacts, [LintProblem], Fragility?)
        /// The server showed no certificate.
        case failed(MatchedRule?, ToolError)
    }

    var line: [UInt8] {
        var json = JSONWriter(.compact)
        json.object { $0.write(Self.facts, of: self) }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private var decided: CheckFacts? { if case .decided(let facts, _, _) = answer { facts } else { nil } }
    private var problems: [LintProblem] { if case .decided(_, let problems, _) = answer { problems } else { [] } }
    private var fragility: Fragility? { if case .decided(_, _, let fragility) = answer { fragility } else { nil } }
    private var failure: (rule: MatchedRule?, error: ToolError)? {
        if case .failed(let rule, let error) = answer { (rule, error) } else { nil }
    }
}

extension AuditResult {
    /// The keys of a line, as help explains them.
    static var rows: KeyRows {
        let asCheck = "As `pintle check` has them"
        return place.rows() + CheckFacts.verdict.row(asCheck) + own.rows() + CheckFacts.handshake.row(asCheck)
            + end.rows()
    }

    private static let facts =
        place + CheckFacts.verdict.map { $0.of(\.decided) } + own + CheckFacts.handshake.map { $0.of(\.decided) } + end

    private static let place: [Fact<AuditResult>] = [
        Fact("host", "The server, and the place that was connected to, if it is another") {
            $0.server.endpoint.host.description
        },
        Fact("port") { $0.server.endpoint.port }, Fact("connectTo") { $0.server.connectTo?.description },
        Fact("at", "The instant of the decision, and the time until the certificates or the error") { $0.instant },
        Fact("milliseconds") { $0.milliseconds },
    ]

    // These limits bound the length of a line, whatever the server sends.
    private static let mostCertificates = 16
    private static let longestText = 512
    private static let mostProblems = 32

    private static let own: [Fact<AuditResult>] = [
        Fact(
            "backup",
            "`unused`, `in-use`, `matched` (the server has moved), `authority` (another pinned root) or `none`"
        ) { $0.decided?.backupState?.rawValue },
        Fact("pinsEnd", "The instant when the rule's pins expire") { $0.decided?.host?.expiry.date },
        Fact("certificateEnds", "The first end of a certificate that the server has to renew, and its position") {
            $0.decided?.firstEnd?.date
        },
        Fact("certificateEndsAt") { $0.decided?.firstEnd?.position },
        Fact("certificates", "At most \(mostCertificates)", listing: certificate) {
            ($0.decided?.positions.places.prefix(mostCertificates)).map(Array.init)
        },
        Fact("moreCertificates", "The number of certificates that were left out") {
            rest($0.decided?.positions.places.count ?? 0, beyond: mostCertificates)
        },
        Fact("problems", "As `pintle lint` has them, at most \(mostProblems)", listing: problem) {
            $0.problems.isEmpty ? nil : Array($0.problems.prefix(mostProblems))
        },
        Fact("moreProblems", "The number of problems that were left out") {
            rest($0.problems.count, beyond: mostProblems)
        },
        Fact("fragility", "As `pintle lint` has it", Fragility.facts) { $0.fragility },
    ]

    private static let end: [Fact<AuditResult>] = [
        Fact("rule", "The rule, also without a decision") { $0.failure?.rule?.pattern },
        Fact("error", "Instead of a decision", error) { $0.failure?.error },
        Fact("policy", "The SHA-256 of the policy file in hex") { $0.basis.policy },
        Fact("anchors", "With `--anchors`, the SHA-256 of its certificates in DER, in hex") { $0.basis.anchors },
    ]

    private static let certificate: [Fact<PathPositions.Place>] = [
        Fact("position") { $0.position },
        Fact("subject") { ($0.certificate?.subject.description).map(shortened) },
        Fact("issuer") { ($0.certificate?.issuer.description).map(shortened) },
        Fact("spkiPin") { $0.certificate?.publicKeyPin.description },
        Fact("certificateSHA256") { CertificatePin(certificate: $0.der).description },
        Fact("notBefore") { $0.certificate?.validity.notBefore },
        Fact("notAfter") { $0.certificate?.validity.notAfter }, Fact("sent") { $0.isSent },
        Fact("onPath") { $0.isOnPath },
    ]

    private static let problem: [Fact<LintProblem>] = [
        Fact("id") { $0.problem.id }, Fact("severity") { $0.severity.rawValue },
        Fact("message") { shortened($0.problem.message) }, Fact("help") { shortened($0.problem.help) },
        Fact("path") { $0.problem.path }, Fact("line") { $0.problem.line }, Fact("column") { $0.problem.column },
    ]

    private static let error: [Fact<ToolError>] = [
        Fact("code") { $0.code }, Fact("message") { shortened($0.message) }, Fact("hint") { $0.hint.map(shortened) },
    ]

    private static func rest(_ count: Int, beyond limit: Int) -> Int? { count > limit ? count - limit : nil }

    private static func shortened(_ text: String) -> String {
        TextLayout.shortened(text, to: longestText, ellipsis: "...")
    }
}

extension CheckFacts {
    /// The state of the rule's backup pins; `nil` if no rule pins the server.
    fileprivate var backupState: AuditBackup? {
        guard let host, !host.pins.isEmpty || !host.backupPins.isEmpty else { return nil }
        if host.backupPins.isEmpty { return .absent }
        if case .trusted(.pinMatched(let match)) = decision, match.isBackup {
            return authority(ofBackup: match.pin) == nil ? .matched : .authority
        }
        if !backupsInUse.isEmpty { return .inUse }
        // The path of a cross-signed root has another pinned root of the authority.
        return host.backupPins.contains { use(of: $0) != nil } ? .authority : .unused
    }

    /// The first certificate to end of those that the server has to renew: the path without its root, which need not be
    /// sent. Without a path, all sent certificates count.
    fileprivate var firstEnd: (date: Date, position: String)? {
        let path = positions.onPath
        let places = path.count > 1 ? Array(path.dropLast()) : path.isEmpty ? positions.sent : path
        let ends = places.prefix(PresentedChain.Limits().count).compactMap { place in
            place.certificate.map { (date: $0.validity.notAfter, position: place.position) }
        }
        return ends.min { $0.date < $1.date }
    }
}

/// The policy and the anchors that decided a result. One report cannot mix results with different ones.
struct AuditBasis: Equatable {
    /// The SHA-256 of the policy's file in hex; `nil` if only the path decided.
    let policy: String?
    /// The SHA-256 of the certificates of `--anchors`, one after the other in DER, in hex; nil for the system's.
    let anchors: String?

    init(policy: [UInt8]?, anchors: [Certificate]?) {
        self.policy = policy.map { Hex.encode(SHA256Digest(hashing: $0).bytes) }
        self.anchors = anchors.map { Hex.encode(SHA256Digest(hashing: $0.flatMap(\.der)).bytes) }
    }

    init(_ record: AuditRecord) {
        policy = record.policy
        anchors = record.anchors
    }

    /// Returns the error for a result with another basis; `nil` if the basis is the same.
    func problem(with record: AuditRecord) -> (code: String, message: String)? {
        if record.policy != policy { return ("other-policy", "\(record.endpoint) was decided by another policy") }
        if record.anchors != anchors { return ("other-anchors", "\(record.endpoint) was decided by other anchors") }
        return nil
    }
}
