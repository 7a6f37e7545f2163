#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server that no rule covers and that nobody has approved: everything a person needs to decide about it.
///
/// Whatever comes out of the certificate is the server's own claim. Texts in here are escaped: control characters and
/// what rearranges a line on the screen cannot rewrite the question.
public struct UnknownHost: Sendable, Hashable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// What a person compares: its ``Certificate/fingerprint`` or its ``Certificate/publicKeyPin``.
    public let leaf: Certificate
    /// Why the system would refuse it; `nil` where the system would trust it.
    public let pathFailure: PathFailure?
    /// The failure that an approval does not accept by itself, such as a wrong name or a past date. `nil`: an approval
    /// is enough. Where ``exceptionsOfCertificate`` is not empty, an approval that names those is enough.
    public let unacceptableFailure: PathFailure?
    /// The failures in ``unacceptableFailure`` that an approval of this exact certificate can accept after all, if the
    /// person is shown each of them: `nameMismatch`, `expired`, or both. Empty where there are none, and where something
    /// else is wrong too.
    public let exceptionsOfCertificate: Set<TrustApproval.AcceptedFailure>
    /// What was approved for this host and port before: for this very certificate or key, and it has expired; or it was
    /// revoked. `nil`: nothing that is known; whether that is everything, ``approvalRecord`` says.
    public let previous: TrustApproval?
    /// Whether everything is known that was ever approved. Where it is not `complete`, this may be a server whose
    /// certificate has changed: say so, and do not ask as if it were new.
    public let approvalRecord: TrustApprovals.Record

    /// Whether nobody has ever said anything about this server.
    public var isFirstContact: Bool { previous == nil && approvalRecord == .complete }

    /// Whether the certificate or key that was once approved here is another one than this.
    public var wasKnownWithAnotherKey: Bool { previous.map { !$0.names(leaf) } ?? false }

    /// The names that the certificate is for, by its own account.
    public var names: [String] { leaf.names }

    /// What an approval names.
    public enum Subject: Sendable, Hashable, CaseIterable {
        /// This certificate. It ends with it.
        case certificate
        /// Its key, in whatever certificate for the same name.
        case key
    }

    /// The approval that the person's yes makes, for ``TrustApprovals/approve(_:)`` or a store.
    ///
    /// It accepts of `self-signed` and `untrusted-root` what was seen here.
    ///
    /// - Parameters:
    ///   - subject: what the approval is bound to.
    ///   - exceptions: ``exceptionsOfCertificate``, once the person has seen each of them in words. Without it a server
    ///     with another name or a past date cannot be approved.
    ///   - instant: when the person answered.
    ///   - expiry: when the approval ends; `nil` for never.
    ///   - note: a text that a list of approvals shows.
    /// - Throws: ``TrustApprovalError``; ``TrustApprovalError/unacceptable(_:)`` where ``unacceptableFailure`` is not
    ///   `nil` and `exceptions` does not name everything in ``exceptionsOfCertificate``, or a key is approved.
    public func approval(
        of subject: Subject = .certificate, alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [],
        at instant: Date, until expiry: Date? = nil, note: String? = nil
    ) throws(TrustApprovalError) -> TrustApproval {
        var accepts = (pathFailure?.acceptable ?? []).intersection(TrustApproval.AcceptedFailure.missingAuthority)
        if let unacceptableFailure {
            guard subject == .certificate, !exceptionsOfCertificate.isEmpty,
                exceptionsOfCertificate.isSubset(of: exceptions)
            else { throw .unacceptable(unacceptableFailure) }
            accepts.formUnion(exceptionsOfCertificate)
        }
        return try TrustApproval(
            subject == .key ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint), for: endpoint,
            accepting: accepts, at: instant, until: expiry, note: note)
    }
}

extension UnknownHost: CustomStringConvertible {
    /// The server and its certificate's fingerprint, for people.
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
        let more = names.count > Self.namesTold ? " and \(names.count - Self.namesTold) more" : ""
        let told = names.prefix(Self.namesTold).map(Self.bounded).joined(separator: ", ") + more
        return """
            \(endpoint) is not known; \(verdict); certificate \(leaf.fingerprint), key \(leaf.publicKeyPin), of \
            \(Self.bounded("\(leaf.subject)")), issued by \(Self.bounded("\(leaf.issuer)")), for \(told), valid \
            \(RFC3339.string(from: leaf.validity.notBefore)) to \(RFC3339.string(from: leaf.validity.notAfter))\(history)
            """
    }

    private static let namesTold = 8

    /// A line of a log, not a page: a certificate may hold names of a quarter of a mebibyte. Longer than any name in
    /// the DNS.
    private static func bounded(_ text: String) -> String {
        let limit = 256
        guard text.unicodeScalars.count > limit else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) + "…"
    }
}
