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
    public let endpoint: ServerEndpoint
    /// What a person compares: its ``Certificate/fingerprint`` or its ``Certificate/publicKeyPin``.
    public let leaf: Certificate
    /// Why the system would refuse it; `nil` where the system would trust it.
    public let pathFailure: PathFailure?
    /// What no approval can forgive, such as a wrong name or a date that is past: whoever approves the server all the
    /// same gets `invalid-path`. `nil`: an approval is enough.
    public let unacceptableFailure: PathFailure?
    /// What was approved for this host and port before: for this very certificate or key, and it has expired; or it was
    /// revoked. `nil`: this is the first contact.
    public let previous: TrustApproval?

    /// Whether the certificate or key that was once approved here is another one than this.
    public var wasKnownWithAnotherKey: Bool { previous.map { !$0.names(leaf) } ?? false }

    /// The names that the certificate is for, by its own account.
    public var names: [String] { (leaf.subjectAlternativeNames ?? []).map(\.description) }

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
    /// - Throws: ``TrustApprovalError``; ``TrustApprovalError/unacceptable(_:)`` where ``unacceptableFailure`` is not
    ///   `nil`.
    public func approval(
        of subject: Subject = .certificate, at instant: Date, until expiry: Date? = nil, note: String? = nil
    ) throws(TrustApprovalError) -> TrustApproval {
        if let unacceptableFailure { throw .unacceptable(unacceptableFailure) }
        return try TrustApproval(
            subject == .key ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint), for: endpoint,
            accepting: pathFailure?.acceptable ?? [], at: instant, until: expiry, note: note)
    }
}

extension UnknownHost: CustomStringConvertible {
    public var description: String {
        let verdict =
            pathFailure.map { "the system would refuse it: \($0.code.rawValue)" } ?? "the system would trust it"
        let history =
            switch previous {
            case let known? where wasKnownWithAnotherKey: "; before: \(known)"
            case let known?: "; it was approved once: \(known)"
            case nil: ""
            }
        return """
            \(endpoint) is not known; \(verdict); certificate \(leaf.fingerprint), key \(leaf.publicKeyPin), of \
            \(leaf.subject), issued by \(leaf.issuer), for \(names.prefix(8).joined(separator: ", ")), valid \
            \(RFC3339.string(from: leaf.validity.notBefore)) to \(RFC3339.string(from: leaf.validity.notAfter))\(history)
            """
    }
}
