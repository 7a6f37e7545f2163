#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A user's decision to trust one server by its certificate or key.
///
/// An approval counts for one host and port. It has an effect only if no rule covers the host and the policy says
/// ``PinningPolicy/UnpinnedHosts/askUser``. It accepts the path failures that the user saw, but no failures that appear
/// later: <doc:/PintleStorage/UserDecisions>.
public struct TrustApproval: Sendable, Hashable {
    /// The path failures that an approval can accept.
    ///
    /// The type is not `CaseIterable`, because code that accepts "all cases" would also accept those that a later
    /// version adds.
    public enum AcceptedFailure: String, Sendable, Hashable {
        /// The leaf is its own issuer and is not a trust anchor.
        case selfSigned = "self-signed"
        /// The path ends at a root that is not a trust anchor.
        case untrustedRoot = "untrusted-root"
        /// The certificate is for other names. Only an approval of the exact certificate can accept this: the same
        /// bytes at the same host and port identify the server better than a name does.
        case nameMismatch = "name-mismatch"
        /// The certificate has expired. Only an approval of the exact certificate can accept this.
        case expired

        /// The failures that mean "no authority trusted by this machine vouches for the server". The user vouches for
        /// it instead, so every approval accepts them by default.
        public static let missingAuthority: Set<AcceptedFailure> = [.selfSigned, .untrustedRoot]
        /// All failures, in the order in which lists show them.
        package static let ordered: [AcceptedFailure] = [.selfSigned, .untrustedRoot, .nameMismatch, .expired]
        /// The failures that only an approval of the exact certificate accepts, and only if they are named explicitly.
        package static let ofCertificate: Set<AcceptedFailure> = [.nameMismatch, .expired]
    }

    /// The status of an approval at an instant.
    public enum State: Sendable, Hashable {
        /// The approval is in force.
        case live
        /// The approval has expired: `at >= expiresAt`.
        case expired
        /// A user revoked the approval.
        case revoked
    }

    /// The host and port that the approval counts for.
    public let endpoint: ServerEndpoint
    /// The certificate that the server must present, or the key that its certificate must hold.
    public let subject: Pin.Subject
    /// The path failures that the user saw and accepted. Empty if the system trusted the server.
    public let accepts: Set<AcceptedFailure>
    /// The date of the approval. All dates of an approval are whole seconds.
    public let approvedAt: Date
    /// The expiry date; `nil` if the approval does not expire.
    public let expiresAt: Date?
    /// A note in the user's own words.
    public let note: String?
    /// The date of the revocation; `nil` if the approval has not been revoked.
    public let revokedAt: Date?

    /// The maximum size of a note, in bytes of UTF-8.
    public static let maximumNoteSize = 1_000

    /// Creates an approval from a fingerprint or pin that the user got by other means, such as from the device's
    /// display or from its owner.
    ///
    /// After a first contact, use ``UnknownHost/approval(of:alsoAccepting:at:until:note:)`` instead: it accepts only
    /// the failures that the user saw.
    ///
    /// - Parameters:
    ///   - subject: the certificate, or the key in any certificate.
    ///   - endpoint: the host and port that the approval counts for.
    ///   - accepts: the path failures to accept. The default is ``AcceptedFailure/missingAuthority``, because the user
    ///     vouches for the server. Add `nameMismatch` or `expired` for a device whose certificate is for another name
    ///     or has expired.
    ///   - instant: the current time. Fractions of a second are dropped, here and in the expiry.
    ///   - expiry: the instant at which the approval expires.
    ///   - note: the user's own words, at most ``maximumNoteSize`` bytes.
    /// - Throws: ``TrustApprovalError/alreadyExpired``, ``TrustApprovalError/noteTooLong(_:)``, or
    ///   ``TrustApprovalError/needsCertificate(_:)`` if a key is approved and `accepts` holds a failure that only an
    ///   approval of a certificate accepts.
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

    package init(
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

    /// Returns the status of the approval. A revoked approval stays `revoked` after its expiry date, because the user's
    /// revocation does not expire.
    public func state(at instant: Date) -> State {
        if revokedAt != nil { return .revoked }
        return expiresAt.map { instant >= $0 } ?? false ? .expired : .live
    }

    /// Returns whether this approval is in force and accepts a certificate for another name. If so, a client that
    /// checks names by itself skips that check, for this host and port only.
    package func acceptsOtherNames(at instant: Date) -> Bool {
        state(at: instant) == .live && accepts.intersection(subject.acceptable).contains(.nameMismatch)
    }

    /// Returns whether the approval is for this certificate or its key. It does not check expiry or revocation: see
    /// ``state(at:)``.
    public func matches(_ leaf: Certificate) -> Bool {
        switch subject {
        case .publicKey(let pin): leaf.publicKeyPin == pin
        case .certificate(let pin): leaf.fingerprint == pin
        }
    }

    /// Returns this approval as a revoked one. If it was revoked before, it keeps the date of the first revocation.
    func revoked(at instant: Date) -> TrustApproval {
        TrustApproval(
            unchecked: subject, for: endpoint, accepting: accepts, at: approvedAt, until: expiresAt, note: note,
            revokedAt: revokedAt ?? instant.wholeSeconds)
    }
}

extension TrustApproval: CustomStringConvertible {
    /// The approval on one line: `nas.home.arpa:443: certificate a22a…, approved 2026-11-20T10:00:00Z`.
    public var description: String {
        let exceptions = AcceptedFailure.ordered.filter(accepts.intersection(AcceptedFailure.ofCertificate).contains)
        let accepted = exceptions.map { ", accepts \($0.rawValue)" }.joined()
        let expiry = expiresAt.map { ", until \(RFC3339.string(from: $0))" } ?? ""
        let revocation = revokedAt.map { ", revoked \(RFC3339.string(from: $0))" } ?? ""
        let approved = RFC3339.string(from: approvedAt)
        return "\(endpoint): \(subject.phrase), approved \(approved)\(accepted)\(expiry)\(revocation)"
    }
}

/// The reason why an approval was not made. Nothing was changed.
public enum TrustApprovalError: Error, Sendable, Hashable {
    /// The server has a failure that no approval can accept. The server would be refused even with the approval.
    case unacceptable(PathFailure)
    /// Another certificate or key is approved for this host and port and has not been revoked. A changed key is an
    /// alarm, not a question. Once the server's owner has confirmed the change, revoke the earlier approval and approve
    /// again.
    case approvedOtherwise(TrustApproval)
    /// The stored approval has changed since the user was asked. The associated value is the current one, or `nil` if
    /// there is none any more. Ask the user again about the server's current state.
    case changedMeanwhile(TrustApproval?)
    /// Earlier approvals are lost or unreadable, so the server's certificate may have changed unnoticed. Tell the user
    /// so, and only then approve with `acceptingIncompleteRecord: true`.
    case incompleteRecord(TrustApprovals.Record)
    /// The expiry is not later than the approval.
    case alreadyExpired
    /// The note is longer than ``TrustApproval/maximumNoteSize``. The associated value is its size in bytes.
    case noteTooLong(Int)
    /// An approval of a key was asked to accept failures that only an approval of the exact certificate accepts.
    case needsCertificate(Set<TrustApproval.AcceptedFailure>)

    /// A stable code for machines.
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
    /// The reason for people, on one line.
    public var description: String {
        switch self {
        case .unacceptable(let failure):
            "the server cannot be approved: \(failure.code.rawValue): \(failure.primary.text)"
                + (failure.code == .nameMismatch || failure.code == .expired
                    ? "; if exceptionsOfCertificate is not empty, show the user each of them and pass it as "
                        + "alsoAccepting"
                    : "")
        case .approvedOtherwise(let approval):
            "another \(approval.subject.kind) is approved for \(approval.endpoint); revoke it first: \(approval)"
        case .changedMeanwhile(let approval):
            "something else has been said about the server since it was shown: "
                + (approval.map { "\($0)" } ?? "what was said before is gone")
        case .incompleteRecord(let record):
            "earlier approvals \(record == .lost ? "are lost" : "cannot be read"), so this server may have been known "
                + "with another certificate; mend the store, or compare the fingerprint again and approve with "
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
    /// The failures that an approval of this subject can accept.
    package var acceptable: Set<TrustApproval.AcceptedFailure> {
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

    /// The kind and value: `key sha256/…` or `certificate a22a…`.
    var phrase: String { "\(kind) \(Pin(self))" }
}

extension Date {
    /// This date rounded down to a whole second.
    package var wholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
