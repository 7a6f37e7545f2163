#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a person has said about one server: this certificate, or this key, is the right one.
///
/// It counts for one host and port, for hosts that no rule covers, and only where the policy says
/// ``PinningPolicy/UnpinnedHosts/askUser``. It accepts the failures that the person has seen and none that came later:
/// <doc:UserDecisions>.
public struct TrustApproval: Sendable, Hashable {
    /// The failures of a path that an approval can accept.
    ///
    /// Not `CaseIterable`: code that says "all of them" would accept what a later version adds.
    public enum AcceptedFailure: String, Sendable, Hashable {
        /// The leaf is its own issuer, and no anchor.
        case selfSigned = "self-signed"
        /// The path ends in a root that is no anchor.
        case untrustedRoot = "untrusted-root"
        /// The certificate is for other names. Only an approval of the exact certificate accepts this: the same bytes
        /// at the same host and port are a stronger identity than a name.
        case nameMismatch = "name-mismatch"
        /// The certificate's last day has passed. Only an approval of the exact certificate accepts this.
        case expired

        /// The failures that say "no authority that this machine knows vouches for the server", which is what a person
        /// does instead. Every approval accepts these unless it says otherwise.
        public static let missingAuthority: Set<AcceptedFailure> = [.selfSigned, .untrustedRoot]
        /// Every failure, in the order in which lists show them.
        package static let ordered: [AcceptedFailure] = [.selfSigned, .untrustedRoot, .nameMismatch, .expired]
        /// The failures that only an approval of the exact certificate accepts, and only by name.
        public static let ofCertificate: Set<AcceptedFailure> = [.nameMismatch, .expired]
    }

    /// What an approval is worth at an instant.
    public enum State: Sendable, Hashable {
        /// The approval is in force.
        case live
        /// From its very expiry on (`at >= expiresAt`).
        case expired
        /// A person took the approval back.
        case revoked
    }

    /// The server that it is about.
    public let endpoint: ServerEndpoint
    /// What the server must show: this certificate, or any certificate for this key.
    public let subject: Pin.Subject
    /// The failures of the path that the person saw and accepted; none where the system trusted the server.
    public let accepts: Set<AcceptedFailure>
    /// Whole seconds, as all its dates.
    public let approvedAt: Date
    /// `nil`: until it is revoked.
    public let expiresAt: Date?
    /// The person's own words.
    public let note: String?
    /// `nil`: it has not been revoked.
    public let revokedAt: Date?

    /// The longest note, in bytes of UTF-8.
    public static let maximumNoteSize = 1_000

    /// An approval of what somebody knows by other means: a fingerprint from the device's display or from its owner.
    ///
    /// After a first contact use ``UnknownHost/approval(of:alsoAccepting:at:until:note:)``, which knows what was seen.
    ///
    /// - Parameters:
    ///   - subject: the certificate, or the key in whatever certificate.
    ///   - endpoint: the server that it is for, and no other port of it.
    ///   - accepts: by default ``AcceptedFailure/missingAuthority``: the person who brings the fingerprint vouches
    ///     for the server. Name `nameMismatch` or `expired` for a device whose certificate has another name or an old date.
    ///   - instant: now; fractions of a second are dropped, here and in the expiry.
    ///   - expiry: the instant from which on it no longer counts.
    ///   - note: the person's own words, at most ``maximumNoteSize`` bytes.
    /// - Throws: ``TrustApprovalError/alreadyExpired``, ``TrustApprovalError/noteTooLong(_:)``, or
    ///   ``TrustApprovalError/needsCertificate(_:)`` for a key that should accept what only a certificate can.
    public init(
        _ subject: Pin.Subject, for endpoint: ServerEndpoint,
        accepting accepts: Set<AcceptedFailure> = AcceptedFailure.missingAuthority, at instant: Date,
        until expiry: Date? = nil, note: String? = nil
    ) throws(TrustApprovalError) {
        let excess = accepts.subtracting(subject.acceptable)
        if !excess.isEmpty { throw .needsCertificate(excess) }
        if let size = note?.utf8.count, size > Self.maximumNoteSize { throw .noteTooLong(size) }
        let expiry = expiry?.wholeSeconds
        if let expiry, expiry <= instant { throw .alreadyExpired }
        self.init(
            unchecked: subject, for: endpoint, accepting: accepts, at: instant.wholeSeconds, until: expiry, note: note,
            revokedAt: nil)
    }

    init(
        unchecked subject: Pin.Subject, for endpoint: ServerEndpoint, accepting accepts: Set<AcceptedFailure>,
        at instant: Date, until expiry: Date?, note: String?, revokedAt: Date?
    ) {
        self.endpoint = endpoint
        self.subject = subject
        self.accepts = accepts
        approvedAt = instant
        expiresAt = expiry
        self.note = note
        self.revokedAt = revokedAt
    }

    /// Revoked before expired: a revocation is somebody's word, and words do not fade.
    public func state(at instant: Date) -> State {
        if revokedAt != nil { return .revoked }
        return expiresAt.map { instant >= $0 } ?? false ? .expired : .live
    }

    /// Returns whether this approval counts at the instant and accepts a certificate for another name. A client that
    /// checks names by itself leaves that to the approval then, for this host and port only.
    package func acceptsOtherNames(at instant: Date) -> Bool {
        state(at: instant) == .live && accepts.intersection(subject.acceptable).contains(.nameMismatch)
    }

    /// Whether a server that shows this certificate is the one that was approved. Whether the approval still counts
    /// is for ``state(at:)`` to say.
    public func names(_ leaf: Certificate) -> Bool {
        switch subject {
        case .publicKey(let pin): leaf.publicKeyPin == pin
        case .certificate(let pin): leaf.fingerprint == pin
        }
    }

    /// The same approval, taken back. The first revocation keeps its date.
    func revoked(at instant: Date) -> TrustApproval {
        TrustApproval(
            unchecked: subject, for: endpoint, accepting: accepts, at: approvedAt, until: expiresAt, note: note,
            revokedAt: revokedAt ?? instant.wholeSeconds)
    }
}

extension TrustApproval: CustomStringConvertible {
    /// `nas.home.arpa:443: certificate a22a…, approved 2026-11-20T10:00:00Z`
    public var description: String {
        let exceptions = AcceptedFailure.ordered.filter(accepts.intersection(AcceptedFailure.ofCertificate).contains)
        let accepted = exceptions.map { ", accepts \($0.rawValue)" }.joined()
        let expiry = expiresAt.map { ", until \(RFC3339.string(from: $0))" } ?? ""
        let revocation = revokedAt.map { ", revoked \(RFC3339.string(from: $0))" } ?? ""
        let approved = RFC3339.string(from: approvedAt)
        return "\(endpoint): \(subject.phrase), approved \(approved)\(accepted)\(expiry)\(revocation)"
    }
}

/// Why an approval was not made. Nothing has changed then.
public enum TrustApprovalError: Error, Sendable, Hashable {
    /// What is wrong with the server is more than a person can accept; it would be refused all the same.
    case unacceptable(PathFailure)
    /// Another certificate or key is approved for this host and port and has not been revoked: a changed key is an
    /// alarm, not a question. Revoke the approval first, once the server's owner has confirmed the change.
    case approvedOtherwise(TrustApproval)
    /// What has been said about the server is not what it was when the person was asked; `nil`: it is gone. Show the
    /// server again, as it stands now.
    case changedMeanwhile(TrustApproval?)
    /// Earlier approvals are lost or cannot be read, so this may be a server whose certificate has changed. Tell the
    /// person so, and approve with `acceptingIncompleteRecord: true` only after that.
    case incompleteRecord(TrustApprovals.Record)
    /// The expiry is not after the approval.
    case alreadyExpired
    /// So many bytes, more than ``TrustApproval/maximumNoteSize``.
    case noteTooLong(Int)
    /// Only an approval of the exact certificate accepts these failures, and a key was named.
    case needsCertificate(Set<TrustApproval.AcceptedFailure>)

    /// Stable, for machines.
    public var code: String {
        switch self {
        case .unacceptable: "unacceptable-failure"
        case .approvedOtherwise: "approved-otherwise"
        case .changedMeanwhile: "changed-meanwhile"
        case .incompleteRecord: "incomplete-record"
        case .alreadyExpired: "already-expired"
        case .noteTooLong: "note-too-long"
        case .needsCertificate: "needs-certificate"
        }
    }
}

extension TrustApprovalError: CustomStringConvertible {
    /// The reason, for people, in one line.
    public var description: String {
        switch self {
        case .unacceptable(let failure):
            "the server cannot be approved: \(failure.code.rawValue): \(failure.primary.text)"
        case .approvedOtherwise(let approval):
            "another \(approval.subject.kind) is approved for \(approval.endpoint); revoke it first: \(approval)"
        case .changedMeanwhile(let approval):
            "something else has been said about the server since it was shown: "
                + (approval.map { "\($0)" } ?? "what was said before is gone")
        case .incompleteRecord(let record):
            "earlier approvals \(record == .lost ? "are lost" : "cannot be read"), so this server may have been known with "
                + "another certificate; mend the store, or compare the fingerprint again and approve with "
                + "acceptingIncompleteRecord: true"
        case .alreadyExpired: "the approval would have expired when it is made"
        case .noteTooLong(let size):
            "a note of \(size) bytes; \(TrustApproval.maximumNoteSize) are allowed"
        case .needsCertificate(let failures):
            "only an approval of the exact certificate accepts "
                + failures.map(\.rawValue).sorted().joined(separator: " and ")
        }
    }
}

extension Pin.Subject {
    /// The failures that an approval of this can accept.
    var acceptable: Set<TrustApproval.AcceptedFailure> {
        switch self {
        case .publicKey: TrustApproval.AcceptedFailure.missingAuthority
        case .certificate:
            TrustApproval.AcceptedFailure.missingAuthority.union(TrustApproval.AcceptedFailure.ofCertificate)
        }
    }

    var kind: String {
        switch self {
        case .publicKey: "key"
        case .certificate: "certificate"
        }
    }

    /// `key sha256/…`, `certificate a22a…`.
    var phrase: String { "\(kind) \(Pin(self))" }
}

extension Date {
    /// Without the fraction, towards the past.
    var wholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
