#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server that no rule covers and that no user has approved, with everything that a user needs to decide about it.
///
/// Everything from the certificate is the server's own claim. Texts are escaped: control characters, and characters
/// that rearrange a line on the screen, cannot change what the question says.
public struct UnknownHost: Sendable, Hashable {
    /// The host and port that the caller asked for.
    public let endpoint: ServerEndpoint
    /// The server's certificate. Users compare its ``Certificate/fingerprint`` or its ``Certificate/publicKeyPin``.
    public let leaf: Certificate
    /// The reason why the system would refuse the server; `nil` if the system would trust it.
    public let pathFailure: PathFailure?
    /// The failure that an approval does not accept by default, such as a wrong name or a past date; `nil` if there is
    /// none. If ``exceptionsOfCertificate`` is not empty, an approval that names those exceptions accepts it.
    public let unacceptableFailure: PathFailure?
    /// The failures in ``unacceptableFailure`` that an approval of this exact certificate can accept, if the app has
    /// shown the user each of them: `nameMismatch`, `expired`, or both. Empty if the server also has a failure that no
    /// approval accepts.
    public let exceptionsOfCertificate: Set<TrustApproval.AcceptedFailure>
    /// The earlier approval for this host and port: an expired one of this certificate or key, or a revoked one of any.
    /// `nil` if none is known; see ``approvalRecord`` for whether that is certain.
    public let previous: TrustApproval?
    /// The completeness of the earlier approvals. Unless it is `complete`, the server's certificate may have changed
    /// unnoticed: tell the user so, and do not present the server as new.
    public let approvalRecord: TrustApprovals.Record

    /// A Boolean value that indicates whether this server is certain never to have been approved.
    public var isFirstContact: Bool { previous == nil && approvalRecord == .complete }

    /// A Boolean value that indicates whether the earlier approval is for another certificate or key.
    public var wasKnownWithAnotherKey: Bool { previous.map { !$0.matches(leaf) } ?? false }

    /// The names that the certificate claims to be for.
    public var names: [String] { leaf.names }

    /// The part of the certificate that an approval is bound to.
    public enum ApprovedPart: Sendable, Hashable, CaseIterable {
        /// The exact certificate. The approval does not cover a renewed one.
        case certificate
        /// The key, in any certificate that is valid for the name.
        case key
    }

    /// Returns the approval to store when the user agrees, for ``TrustApprovals/approve(_:)`` or a store.
    ///
    /// The approval accepts `self-signed` and `untrusted-root` only if the server had that failure.
    ///
    /// - Parameters:
    ///   - part: what the approval is bound to: the certificate or its key.
    ///   - exceptions: pass ``exceptionsOfCertificate`` after the app has shown the user each of them in words.
    ///     Otherwise a server with another name or a past date cannot be approved.
    ///   - instant: the time of the user's answer.
    ///   - expiry: the instant at which the approval expires; `nil` for never.
    ///   - note: a text that a list of approvals shows.
    /// - Throws: ``TrustApprovalError``. It is ``TrustApprovalError/unacceptable(_:)`` if ``unacceptableFailure`` is
    ///   not `nil` and either a key is approved or `exceptions` lacks an element of ``exceptionsOfCertificate``.
    public func approval(
        of part: ApprovedPart = .certificate, alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [],
        at instant: Date, until expiry: Date? = nil, note: String? = nil
    ) throws(TrustApprovalError) -> TrustApproval {
        var accepts = (pathFailure?.acceptable ?? []).intersection(TrustApproval.AcceptedFailure.missingAuthority)
        if let unacceptableFailure {
            guard part == .certificate, !exceptionsOfCertificate.isEmpty,
                exceptionsOfCertificate.isSubset(of: exceptions)
            else { throw .unacceptable(unacceptableFailure) }
            accepts.formUnion(exceptionsOfCertificate)
        }
        return try TrustApproval(
            part == .key ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint), for: endpoint,
            accepting: accepts, at: instant, until: expiry, note: note)
    }
}

extension UnknownHost: CustomStringConvertible {
    /// A description for people: the server, its certificate's fingerprint and names, and earlier approvals.
    public var description: String {
        let verdict =
            pathFailure.map { "the system would refuse it: \($0.code.rawValue)" } ?? "the system would trust it"
        let history =
            switch (previous, approvalRecord) {
            case (let known?, _) where wasKnownWithAnotherKey: "; before: \(known)"
            case (let known?, _): "; it was approved once: \(known)"
            case (nil, .complete): ""
            case (nil, .unreadable): "; whether it was approved before cannot be read"
            case (nil, .lost): "; whether it was approved before is lost"
            }
        let more = names.count > Self.shownNames ? " and \(names.count - Self.shownNames) more" : ""
        let told = names.prefix(Self.shownNames).map(Self.bounded).joined(separator: ", ") + more
        return """
            \(endpoint) is not known; \(verdict); certificate \(leaf.fingerprint), key \(leaf.publicKeyPin), of \
            \(Self.bounded("\(leaf.subject)")), issued by \(Self.bounded("\(leaf.issuer)")), for \(told), valid \
            \(RFC3339.string(from: leaf.validity.notBefore)) to \
            \(RFC3339.string(from: leaf.validity.notAfter))\(history)
            """
    }

    private static let shownNames = 8

    /// Shortens a text for a log line, because the names of one certificate can take 256 KiB. The limit is longer than
    /// any DNS name.
    private static func bounded(_ text: String) -> String {
        let limit = 256
        guard text.unicodeScalars.count > limit else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) + "…"
    }
}
