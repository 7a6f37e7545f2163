package import Pintle
internal import PintlePolicyFile
package import PintleSystem

/// One line of an audit's results, with the members that summaries and pages need.
package struct AuditRecord {
    package enum Outcome: String {
        case trusted, rejected
        /// The server showed no certificate, or did not prove that it has the key.
        case unreached
    }

    package struct Problem {
        package let id: String
        package let isError: Bool
        package let message: String
    }

    package let server: AuditServer
    package let instant: Date
    package let outcome: Outcome
    /// The reason of the decision, or the code of the error.
    package let reason: String
    package let pathFailure: String?
    /// The message of the error, if the server was not reached.
    package let errorMessage: String?
    package let rule: String?
    package let backup: AuditBackup?
    package let certificateEnds: Date?
    package let pinsEnd: Date?
    package let problems: [Problem]
    /// The group of the key exchange; `nil` if the server was not reached, or if the result is older than this member.
    package let keyExchangeGroup: KeyExchangeGroup?
    /// The SHA-256 of the policy that decided, in hex.
    package let policy: String?
    /// The SHA-256 of the anchors of `--anchors`, in hex; `nil` for the system's.
    package let anchors: String?
    /// The validated path, the leaf first. Empty if there is none, or if the record was read without its certificates.
    let path: [AuditCertificate]

    package var endpoint: ServerEndpoint { server.endpoint }

    /// The reason of the decision; `nil` if there is none, or if this version does not know it.
    package var code: TrustDecision.Reason? { outcome == .unreached ? nil : TrustDecision.Reason(rawValue: reason) }

    /// A Boolean value that indicates whether a trusted server needs attention.
    package var hasWarning: Bool {
        outcome == .trusted && (!problems.isEmpty || code?.weight == .warning)
    }

    /// A Boolean value that indicates whether the server was reached and did not negotiate a hybrid group.
    package var lacksHybridGroup: Bool { outcome != .unreached && keyExchangeGroup?.isHybrid != true }

    /// The longest line in bytes: several times what `AuditResult` writes.
    static let maximumLineLength = 1 << 20

    /// - Parameters:
    ///   - line: the line without its line break. Unknown members are ignored.
    ///   - readsPath: `true` to read the certificates of the validated path too.
    package init(_ line: [UInt8], readsPath: Bool = false) throws(AuditRecordError) {
        let root: JSONValue
        do {
            root = try JSONDocument(line, limits: .init(maximumBytes: Self.maximumLineLength, allowsAnyNumber: true))
                .root
        } catch {
            throw AuditRecordError(message: error.message)
        }
        guard root.kind == .object else { throw AuditRecordError(message: "it is not an object") }
        guard let host = root["host"]?.string.flatMap({ try? ServerName($0) }),
            let port = root["port"]?.integer.flatMap(UInt16.init(exactly:)), port > 0
        else { throw AuditRecordError(message: "it has no host and port") }
        var server = AuditServer(endpoint: ServerEndpoint(host: host, port: port))
        if let text = root["connectTo"] {
            server.connectTo = text.string.flatMap { ServerEndpoint($0) }
            guard server.connectTo != nil else { throw AuditRecordError(message: "connectTo is no HOST:PORT") }
        }
        self.server = server
        guard let instant = try Self.date(root, "at") else { throw AuditRecordError(message: "it does not say when") }
        self.instant = instant
        if let error = root["error"] {
            guard let code = error["code"]?.string else { throw AuditRecordError(message: "its error has no code") }
            outcome = .unreached
            reason = code
            errorMessage = error["message"]?.string
        } else {
            guard let outcome = root["decision"]?.string.flatMap(Outcome.init), outcome != .unreached,
                let reason = root["reason"]?.string
            else { throw AuditRecordError(message: "it has no decision and no error") }
            self.outcome = outcome
            self.reason = reason
            errorMessage = nil
        }
        pathFailure = root["pathFailure"]?.string
        rule = root["rule"]?.string
        backup = root["backup"]?.string.flatMap(AuditBackup.init)
        certificateEnds = try Self.date(root, "certificateEnds")
        pinsEnd = try Self.date(root, "pinsEnd")
        keyExchangeGroup = root["keyExchangeGroup"]?.string.map { KeyExchangeGroup($0) }
        policy = root["policy"]?.string
        anchors = root["anchors"]?.string
        path = readsPath ? try AuditCertificate.path(root["certificates"]) : []
        let known = (root["problems"]?.elements.map(Array.init) ?? []).compactMap { problem -> Problem? in
            guard let id = problem["id"]?.string else { return nil }
            return Problem(
                id: id, isError: problem["severity"]?.string == "error", message: problem["message"]?.string ?? "")
        }
        // A newer version may have written it, and it need not be good news.
        let isUnknown =
            outcome == .trusted && TrustDecision.Reason(rawValue: reason)?.weight ?? .refusal == .refusal
        let unknown = Problem(
            id: "unknown-reason", isError: false,
            message: "this version of pintle does not know the reason \"\(reason)\", so it may need attention")
        problems = known + (isUnknown ? [unknown] : [])
    }

    static func date(_ root: JSONValue, _ key: StaticString) throws(AuditRecordError) -> Date? {
        guard let value = root[key] else { return nil }
        guard let date = value.string.flatMap({ try? RFC3339.date(from: $0) }) else {
            throw AuditRecordError(message: "\(key) is not a date")
        }
        return date
    }
}

package struct AuditRecordError: Error {
    package let message: String
}

/// The state of a rule's backup pins at a server.
package enum AuditBackup: String {
    /// The rule has no backup pin.
    case absent = "none"
    /// The server shows no backup key.
    case unused
    /// The server shows a backup's key or certificate beside one of the pins.
    case inUse = "in-use"
    /// The server has moved to a backup key.
    case matched
    /// The server shows a backup pin that is another pinned root: see ``AuthorityFamilies/authority(ofBackup:in:)``.
    case authority
}
