#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The decision to trust a connection, at the time when the connection was made.
///
/// ``TrustEvaluation/receipt`` makes one. A response of a pinned session on Linux has the receipt of its connection.
///
/// It tells a pool until when a connection may carry requests: while the policy's source still has the same
/// ``generation``, and before ``validUntil``.
public struct TrustReceipt: Sendable, Hashable {
    /// The server that the caller asked for.
    public let endpoint: ServerEndpoint
    /// The reason for the trust: the pin and where it matched, the user's approval, or the reason why no pin was
    /// needed.
    public let basis: TrustBasis
    /// The rule that decided; `nil` if no rule covers the host.
    public let rule: MatchedRule?
    /// The path that validation found, leaf to anchor.
    public let path: ValidatedPath
    /// The generation of the policy that decided, as its ``PolicySource`` numbers them. It is 1 for a policy that never
    /// changes.
    public let generation: UInt64
    /// The instant from which no request may start on the connection: the end of a certificate of the path, of the pins
    /// or of the user's approval, whichever comes first.
    public let validUntil: Date
    /// The instant from which the decision would be the same: the clock may be set back to a time before a certificate
    /// was valid, or at which pins that have expired still applied.
    package let validFrom: Date

    /// The pin that matched; `nil` if trust rests only on the path.
    public var matchedPin: PinMatch? {
        if case .pinMatched(let match) = basis { match } else { nil }
    }
}

extension TrustReceipt {
    /// Creates the receipt for a decision; `nil` if the server was refused.
    package init?(_ evaluation: TrustEvaluation, by policy: PinningPolicy, generation: UInt64, at instant: Date) {
        guard case .trusted(let basis) = evaluation.decision, let path = evaluation.path else { return nil }
        var (start, end) = (Date.distantPast, Date.distantFuture)
        // Without certificates no instant is allowed.
        if path.certificates.isEmpty { (start, end) = (end, start) }
        var acceptsExpiredLeaf = false
        if case .userApproved(let approval) = basis {
            end = min(end, approval.expiresAt ?? end)
            acceptsExpiredLeaf = approval.accepts.contains(.expired)
        }
        for (depth, der) in path.certificates.enumerated() {
            // The validator has parsed these certificates before. If one fails to parse here, the connection must carry
            // no request.
            let validity = try? Validity(ofCertificate: der)
            start = max(start, validity?.notBefore ?? .distantFuture)
            // An approval never covers the dates of an authority.
            if depth == 0, acceptsExpiredLeaf { continue }
            // A certificate is valid to the end of its last second; `Validity.contains` has the same rule.
            end = min(end, validity.map { $0.notAfter + 1 } ?? .distantPast)
        }
        if let rule = evaluation.rule, let pinsEnd = policy.hosts[rule.index].expiry.date {
            if pinsEnd > instant { end = min(end, pinsEnd) } else { start = max(start, pinsEnd) }
        }
        self.init(
            endpoint: evaluation.endpoint, basis: basis, rule: evaluation.rule, path: path, generation: generation,
            validUntil: end, validFrom: start)
    }

    /// Returns the same receipt with another basis, for tests of what relies on the basis.
    package func withBasis(_ basis: TrustBasis) -> TrustReceipt {
        TrustReceipt(
            endpoint: endpoint, basis: basis, rule: rule, path: path, generation: generation, validUntil: validUntil,
            validFrom: validFrom)
    }
}

extension TrustReceipt: CustomStringConvertible {
    /// One line for a log: the server, the reason for the trust, the rule and the end.
    public var description: String {
        "\(endpoint) trusted, \(basis); rule \(rule?.pattern ?? "none"), generation \(generation), until "
            + RFC3339.string(from: validUntil)
    }
}

extension TrustReceipt {
    /// Checks the path of the connection a second time, after the response and independently of the handshake.
    ///
    /// Parses and hashes every certificate of the path again, and relies on no result of the handshake. If a pin
    /// decided, it is compared again with the certificate that it matched.
    ///
    ///     guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    ///     try receipt.require(minimumPathLength: 3, issuerKey: PublicKeyPin("sha256/..."))
    ///
    /// This finds an interceptor if a tool has disabled the check in the handshake but does not know of this one. A
    /// tool can disable both, so the second check only raises its cost.
    ///
    /// - Parameters:
    ///   - minimumPathLength: The smallest number of certificates on the path, leaf and anchor included. An interceptor
    ///     often signs the leaf with its root, which makes a path of 2. Values below 1 count as 1.
    ///   - issuerKey: The key of the certificate that issued the leaf, which is the next one on the path; `nil` for
    ///     any.
    /// - Throws: ``TrustRejection/invalidPath(_:)`` with the first requirement that is not met.
    public func require(minimumPathLength: Int, issuerKey: PublicKeyPin? = nil) throws(TrustRejection) {
        try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
    }
}
