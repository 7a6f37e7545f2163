internal import Pintle
internal import PintleCrypto

/// The policy and the anchors behind a result. Results of different ones cannot be in one report.
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

    /// Returns the reason why a result has another basis; `nil` if it has this one.
    func problem(with record: AuditRecord) -> (code: String, message: String)? {
        if record.policy != policy { return ("other-policy", "\(record.endpoint) was decided by another policy") }
        if record.anchors != anchors { return ("other-anchors", "\(record.endpoint) was decided by other anchors") }
        return nil
    }
}
