internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// Writes a result as a line of NDJSON, which ``AuditRecord`` reads.
///
/// `{host, port, connectTo?, at, milliseconds, decision, reason, pathFailure?, raw?, detail?, matchedPin?, depth?,
/// isBackup?, rule?, nearestMiss?, backup?, pinsEnd?, certificateEnds?, certificateEndsAt?, certificates, problems,
/// tlsVersion?, cipherSuite?, keyExchangeGroup?, address?, alert?, policy?, anchors?}`. A server that showed no
/// certificate has `error` instead of a decision.
struct AuditRecordWriter {
    let basis: AuditBasis

    /// These limits bound the length of a line, whatever the server sends.
    private static let mostCertificates = 16
    private static let longestText = 512
    private static let mostProblems = 32

    func line(
        _ target: AuditServer, at instant: Date, milliseconds: Int, _ facts: CheckFacts, _ entries: [LintProblem],
        _ fragility: Fragility?
    ) -> [UInt8] {
        line(target, at: instant, milliseconds) { json in
            json.write(CheckFacts.verdict, of: facts)
            json.member("backup", facts.backupState?.rawValue)
            json.member("pinsEnd", facts.host?.expiry.date)
            if let end = facts.firstEnd {
                json.member("certificateEnds", end.date)
                json.member("certificateEndsAt", end.position)
            }
            json.objects("certificates", facts.positions.places.prefix(Self.mostCertificates), Self.write)
            let more = facts.positions.places.count - Self.mostCertificates
            json.member("moreCertificates", more > 0 ? more : nil)
            Self.write(entries, to: &json)
            fragility?.write(to: &json)
            json.write(CheckFacts.handshake, of: facts)
        }
    }

    func line(_ target: AuditServer, at instant: Date, milliseconds: Int, rule: MatchedRule?, _ error: ToolError)
        -> [UInt8]
    {
        line(target, at: instant, milliseconds) { json in
            json.member("rule", rule?.pattern)
            json.object("error") { json in
                json.member("code", error.code)
                json.member("message", Self.shortened(error.message))
                json.member("hint", error.hint.map(Self.shortened))
            }
        }
    }

    private func line(
        _ target: AuditServer, at instant: Date, _ milliseconds: Int, _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter(.compact)
        json.object { json in
            json.member("host", target.endpoint.host.description)
            json.member("port", target.endpoint.port)
            json.member("connectTo", target.connectTo?.description)
            json.member("at", instant)
            json.member("milliseconds", milliseconds)
            members(&json)
            json.member("policy", basis.policy)
            json.member("anchors", basis.anchors)
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func write(_ entries: [LintProblem], to json: inout JSONWriter) {
        guard !entries.isEmpty else { return }
        json.objects("problems", entries.prefix(mostProblems)) { json, entry in
            json.member("id", entry.problem.id)
            json.member("severity", entry.severity.rawValue)
            json.member("message", shortened(entry.problem.message))
            json.member("help", shortened(entry.problem.help))
            json.member("path", entry.problem.path)
            json.member("line", entry.problem.line)
            json.member("column", entry.problem.column)
        }
        json.member("moreProblems", entries.count > mostProblems ? entries.count - mostProblems : nil)
    }

    private static func write(_ json: inout JSONWriter, _ place: PathPositions.Place) {
        json.member("position", place.position)
        json.member("subject", (place.certificate?.subject.description).map(shortened))
        json.member("issuer", (place.certificate?.issuer.description).map(shortened))
        json.member("spkiPin", place.certificate?.publicKeyPin.description)
        json.member("certificateSHA256", CertificatePin(certificate: place.der).description)
        json.member("notBefore", place.certificate?.validity.notBefore)
        json.member("notAfter", place.certificate?.validity.notAfter)
        json.member("sent", place.isSent)
        json.member("onPath", place.isOnPath)
    }

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
