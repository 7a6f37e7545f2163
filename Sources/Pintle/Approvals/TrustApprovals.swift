#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The users' approvals of servers, at most one for each host and port: a snapshot of an approval store.
///
/// It is a value, so it does not change during a decision. A look-up takes constant time, whatever the number of
/// approvals.
public struct TrustApprovals: Sendable, Hashable {
    /// The completeness of the approvals: whether earlier ones may be missing.
    public enum Record: String, Sendable, Hashable, CaseIterable {
        /// All approvals that were ever made are here. A server without one was never approved.
        case complete
        /// The stored approvals could not be read. A server without an approval here may have been approved before,
        /// with another certificate.
        case unreadable
        /// Some approvals are lost: the file was damaged and set aside, has vanished, or was replaced by an older copy.
        /// A server without an approval here may have been approved before.
        case lost
    }

    /// A number that grows with each change of the store; 0 without a store. The file calls it `generation`.
    public private(set) var revision: UInt64
    /// The completeness of the approvals. Unless it is `complete`, a changed certificate cannot be told from a first
    /// contact.
    public package(set) var record: Record
    private var byEndpoint: [ServerEndpoint: TrustApproval]

    /// An empty set of approvals with a complete record: no server was ever approved.
    public static let none = TrustApprovals()

    /// Creates a snapshot. If two approvals are for the same host and port, the last one counts.
    public init(_ approvals: [TrustApproval] = [], revision: UInt64 = 0, record: Record = .complete) {
        self.revision = revision
        self.record = record
        byEndpoint = Dictionary(approvals.map { ($0.endpoint, $0) }, uniquingKeysWith: { $1 })
    }

    /// Returns the last approval of a server, even if it has expired or was revoked.
    public subscript(endpoint: ServerEndpoint) -> TrustApproval? { byEndpoint[endpoint] }

    /// The number of approvals, including expired and revoked ones. Those are kept because they tell a changed key from
    /// a first contact.
    public var count: Int { byEndpoint.count }

    /// All approvals, ordered by host and port.
    public var all: [TrustApproval] {
        byEndpoint.values.sorted { left, right in
            let (host, other) = (left.endpoint.host.canonical, right.endpoint.host.canonical)
            return host == other
                ? left.endpoint.port < right.endpoint.port : host.lexicographicallyPrecedes(other)
        }
    }

    /// Adds the approval that a user gave in answer to a question about an unknown server.
    ///
    /// - Parameters:
    ///   - host: the unknown server that the user was asked about.
    ///   - part: what the approval is bound to: the certificate or its key.
    ///   - exceptions: failures beyond `self-signed` and `untrusted-root` that the user saw and accepts. They need an
    ///     approval of the certificate. See ``UnknownHost/exceptionsOfCertificate``.
    ///   - instant: the time of the user's answer.
    ///   - expiry: the instant at which the approval expires; `nil` for never.
    ///   - note: a text that a list of approvals shows.
    ///   - acceptsIncompleteRecord: pass `true` only if the app told the user that earlier approvals are lost or
    ///     unreadable (``UnknownHost/approvalRecord``) and the user still agreed.
    /// - Throws: the errors of ``UnknownHost/approval(of:alsoAccepting:at:until:note:)``.
    ///   ``TrustApprovalError/incompleteRecord(_:)`` if the server has no earlier approval, the record is or was not
    ///   complete, and `acceptsIncompleteRecord` is false. If the stored approval has changed since the user was asked,
    ///   the answer no longer fits the question: ``TrustApprovalError/approvedOtherwise(_:)`` if it is now one of
    ///   another certificate or key, otherwise ``TrustApprovalError/changedMeanwhile(_:)``.
    @discardableResult
    public mutating func approve(
        _ host: UnknownHost, as part: UnknownHost.ApprovedPart = .certificate,
        alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [], at instant: Date, until expiry: Date? = nil,
        note: String? = nil, acceptingIncompleteRecord acceptsIncompleteRecord: Bool = false
    ) throws(TrustApprovalError) -> TrustApproval {
        let approval = try host.approval(
            of: part, alsoAccepting: exceptions, at: instant, until: expiry, note: note)
        let known = byEndpoint[host.endpoint]
        guard known == host.previous else {
            if let known, known.revokedAt == nil, !known.matches(host.leaf) { throw .approvedOtherwise(known) }
            throw .changedMeanwhile(known)
        }
        if known == nil, !acceptsIncompleteRecord {
            for record in [record, host.approvalRecord] where record != .complete { throw .incompleteRecord(record) }
        }
        replace(approval)
        return approval
    }

    /// Adds an approval. If the same certificate or key is approved already, its date, expiry and note are replaced.
    ///
    /// - Throws: ``TrustApprovalError/approvedOtherwise(_:)`` if another certificate or key is approved for the server
    ///   and has not been revoked. An expired approval counts too, because the change of key is no less of an alarm.
    public mutating func approve(_ approval: TrustApproval) throws(TrustApprovalError) {
        if let known = byEndpoint[approval.endpoint], known.revokedAt == nil, known.subject != approval.subject {
            throw .approvedOtherwise(known)
        }
        replace(approval)
    }

    /// Replaces any earlier approval of the server. Use it for a user who enters the new fingerprint, never for an
    /// answer to a question about another certificate.
    public mutating func replace(_ approval: TrustApproval) {
        byEndpoint[approval.endpoint] = approval
        revision += 1
    }

    /// Revokes the approval of a server. The store keeps the approval and marks it as revoked.
    ///
    /// - Returns: the revoked approval; `nil` if the server was not approved or the approval was revoked before.
    @discardableResult
    public mutating func revoke(_ endpoint: ServerEndpoint, at instant: Date) -> TrustApproval? {
        guard let known = byEndpoint[endpoint], known.revokedAt == nil else { return nil }
        let revoked = known.revoked(at: instant)
        replace(revoked)
        return revoked
    }
}
