#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What people have said about servers, one word for each host and port: the state of a store at one instant.
///
/// A value: it does not change while somebody decides by it. Looking one up costs the same among ten and among ten
/// thousand.
public struct TrustApprovals: Sendable, Hashable {
    /// Whether everything is here that people have said.
    public enum Record: String, Sendable, Hashable, CaseIterable {
        /// Nobody has said anything about a server that is not here.
        case complete
        /// It could not be read: a server that is not here may have been approved, with another certificate.
        case unreadable
        /// Some of it is gone: it was damaged and set aside, its file has vanished or is an older one again. A server
        /// that is not here may have been approved.
        case lost
    }

    /// Grows with every change of the store that this is the state of; 0 for none. `generation` in the file.
    public private(set) var revision: UInt64
    /// Where this is not `complete`, a certificate that has changed cannot be told from a first contact.
    public package(set) var record: Record
    private var byEndpoint: [ServerEndpoint: TrustApproval]

    /// Nobody has said anything.
    public static let none = TrustApprovals()

    /// Those of one host and port may stand here once: the last one counts.
    public init(_ approvals: [TrustApproval] = [], revision: UInt64 = 0, record: Record = .complete) {
        self.revision = revision
        self.record = record
        byEndpoint = Dictionary(approvals.map { ($0.endpoint, $0) }, uniquingKeysWith: { $1 })
    }

    /// What was last said about a server, whether it still counts or not.
    public subscript(endpoint: ServerEndpoint) -> TrustApproval? { byEndpoint[endpoint] }

    /// Expired and revoked ones too: they tell a changed key from a first contact.
    public var count: Int { byEndpoint.count }

    /// All of them, in the order of hosts and ports.
    public var all: [TrustApproval] {
        byEndpoint.values.sorted { left, right in
            let (host, other) = (left.endpoint.host.canonical, right.endpoint.host.canonical)
            return host == other
                ? left.endpoint.port < right.endpoint.port : host.lexicographicallyPrecedes(other)
        }
    }

    /// Adds the approval that the yes to a question makes.
    ///
    /// - Parameters:
    ///   - host: the question that the person answered.
    ///   - subject: what the approval is bound to.
    ///   - exceptions: failures beyond `self-signed` and `untrusted-root` that the person was shown and accepts, for an
    ///     approval of the certificate only. See ``UnknownHost/exceptionsOfCertificate``.
    ///   - instant: when the person answered.
    ///   - expiry: when the approval ends; `nil` for never.
    ///   - note: a text that a list of approvals shows.
    ///   - acceptsIncompleteRecord: true where the person was told that earlier approvals are lost or cannot be read, and
    ///     said yes all the same. ``UnknownHost/approvalRecord`` says whether they are.
    /// - Throws: as ``UnknownHost/approval(of:alsoAccepting:at:until:note:)``; ``TrustApprovalError/incompleteRecord(_:)``
    ///   where nothing is known of the server because of that, now or when it was shown, and `acceptsIncompleteRecord` is
    ///   false; ``TrustApprovalError/changedMeanwhile(_:)`` or, where it is the approval of another,
    ///   ``TrustApprovalError/approvedOtherwise(_:)`` where something else has been said about the server since it was
    ///   shown: the answer was to another question.
    @discardableResult
    public mutating func approve(
        _ host: UnknownHost, as subject: UnknownHost.Subject = .certificate,
        alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [], at instant: Date, until expiry: Date? = nil,
        note: String? = nil, acceptingIncompleteRecord acceptsIncompleteRecord: Bool = false
    ) throws(TrustApprovalError) -> TrustApproval {
        let approval = try host.approval(
            of: subject, alsoAccepting: exceptions, at: instant, until: expiry, note: note)
        let known = byEndpoint[host.endpoint]
        guard known == host.previous else {
            if let known, known.revokedAt == nil, !known.names(host.leaf) { throw .approvedOtherwise(known) }
            throw .changedMeanwhile(known)
        }
        if known == nil, !acceptsIncompleteRecord {
            for record in [record, host.approvalRecord] where record != .complete { throw .incompleteRecord(record) }
        }
        replace(approval)
        return approval
    }

    /// Adds an approval; one for the same certificate or key is renewed, with the new date, expiry and note.
    ///
    /// - Throws: ``TrustApprovalError/approvedOtherwise(_:)`` where another certificate or key is approved for the
    ///   server and has not been revoked; that it has expired does not make the change of key less of an alarm.
    public mutating func approve(_ approval: TrustApproval) throws(TrustApprovalError) {
        if let known = byEndpoint[approval.endpoint], known.revokedAt == nil, known.subject != approval.subject {
            throw .approvedOtherwise(known)
        }
        replace(approval)
    }

    /// Puts an approval in the place of whatever was said about the server before: for somebody who brings the new
    /// fingerprint, never for an answer to a question that was asked about another certificate.
    public mutating func replace(_ approval: TrustApproval) {
        byEndpoint[approval.endpoint] = approval
        revision += 1
    }

    /// Takes back what was approved for a server. It stays known as revoked.
    ///
    /// - Returns: what was revoked; `nil` where nothing was approved, or had been revoked before.
    @discardableResult
    public mutating func revoke(_ endpoint: ServerEndpoint, at instant: Date) -> TrustApproval? {
        guard let known = byEndpoint[endpoint], known.revokedAt == nil else { return nil }
        let revoked = known.revoked(at: instant)
        replace(revoked)
        return revoked
    }
}

extension TrustApprovals {
    /// The version of the format that is written, and the only one that is read.
    static let formatVersion: Int64 = 1

    /// The largest file that is read or written, in bytes: some fifty thousand approvals.
    package static let maximumFileSize = 16 << 20

    /// The approvals as a file, UTF-8: what ``init(json:)`` reads as equal approvals.
    ///
    /// One spelling for equal approvals: in the order of hosts and ports, one key a member, dates in UTC.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", Int(Self.formatVersion))
            $0.member("generation", Int64(clamping: revision))
            $0.array("approvals") { for approval in all { approval.write(to: &$0) } }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads a file of approvals: JSON, UTF-8 without a byte-order mark, at most 16 MiB.
    ///
    /// The parser is strict, because the file decides about trust. Unknown keys, duplicate keys, two approvals for one host
    /// and port, and dates that do not exist are errors. No part of a file with an error is used.
    public init(json: [UInt8]) throws(ApprovalFileError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(json, limits: .init(maximumBytes: Self.maximumFileSize, maximumDepth: 4))
        } catch {
            throw ApprovalFileError(error)
        }
        self = try ApprovalFileReader.read(document.root)
    }
}

extension TrustApproval {
    /// `{host, port, certificate | spki, accepts, approvedAt, expiresAt?, note?, revokedAt?}`
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("host", endpoint.host.description)
            $0.member("port", Int(endpoint.port))
            switch subject {
            case .certificate(let pin): $0.member("certificate", pin.description)
            case .publicKey(let pin): $0.member("spki", pin.description)
            }
            $0.member("accepts", AcceptedFailure.ordered.filter(accepts.contains).map(\.rawValue))
            $0.member("approvedAt", RFC3339.string(from: approvedAt))
            $0.member("expiresAt", expiresAt.map { RFC3339.string(from: $0) })
            $0.member("note", note)
            $0.member("revokedAt", revokedAt.map { RFC3339.string(from: $0) })
        }
    }
}
