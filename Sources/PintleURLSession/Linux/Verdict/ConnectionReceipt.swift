internal import COpenSSL
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// The proof that the policy accepted a connection. The connection's `SSL` owns it.
///
/// It is the second gate. If a library, an option or a mistake ever lets a connection bypass the verifier, that
/// connection has no receipt, and libcurl sends no request over it.
final class ConnectionReceipt: Sendable {
    /// The decision, in the form that the app gets.
    let trust: TrustReceipt
    /// The serial number of the ``PolicyGeneration`` that decided.
    let serial: Int
    private let validFrom: Date

    /// - Parameter isApproval: `false` only in a test of the second gate: the receipt then does not mention the
    ///   approval.
    init?(
        _ evaluation: TrustEvaluation, in generation: PolicyGeneration, at instant: Date, isApproval: Bool = true
    ) {
        guard case .trusted(let basis) = evaluation.decision, let path = evaluation.path else { return nil }
        serial = generation.serial
        var approval: TrustApproval?
        if case .userApproved(let found) = basis { approval = found }
        var time = Self.time(
            of: path, evaluation.rule, in: generation.policy, at: instant,
            acceptsExpiredLeaf: approval?.accepts.contains(.expired) ?? false)
        if let end = approval?.expiresAt { time.end = min(time.end, end) }
        validFrom = time.start
        trust = TrustReceipt(
            endpoint: evaluation.endpoint, basis: isApproval ? basis : .hostNotPinned, rule: evaluation.rule,
            path: path,
            generation: generation.snapshot.generation, validUntil: time.end)
    }

    func allows(_ endpoint: ServerEndpoint, in generation: PolicyGeneration, at instant: Date) -> Bool {
        trust.endpoint == endpoint && serial == generation.serial && validFrom <= instant
            && instant < trust.validUntil
    }

    /// Returns the period in which the verdict would be the same.
    ///
    /// The period has a start because the clock may be set back: before a certificate was valid, or to a time at which
    /// pins that have expired still applied.
    ///
    /// - Parameter acceptsExpiredLeaf: `true` if the user's approval accepts an expired leaf. It never covers the dates
    ///   of an authority.
    private static func time(
        of path: ValidatedPath, _ rule: MatchedRule?, in policy: PinningPolicy, at instant: Date,
        acceptsExpiredLeaf: Bool
    ) -> (start: Date, end: Date) {
        // The validator has parsed these certificates before. If one fails to parse here, the connection serves no
        // request.
        guard let leaf = path.certificates.first else { return (.distantFuture, .distantPast) }
        var (start, end) = (Date.distantPast, Date.distantFuture)
        for der in path.certificates {
            let validity = try? Validity(ofCertificate: der)
            start = max(start, validity?.notBefore ?? .distantFuture)
            if acceptsExpiredLeaf, der == leaf { continue }
            // A certificate is valid to the end of its last second; `Validity.contains` has the same rule.
            end = min(end, validity.map { $0.notAfter + 1 } ?? .distantPast)
        }
        if let rule, let pinsEnd = policy.hosts[rule.index].expiry.date {
            if pinsEnd > instant { end = min(end, pinsEnd) } else { start = max(start, pinsEnd) }
        }
        return (start, end)
    }
}

// MARK: On the connection

extension ConnectionReceipt {
    /// An index of Pintle's own, because libcurl uses the one of `SSL_get_app_data`.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) {
        _, pointer, _, _, _, _ in
        guard let pointer else { return }
        Unmanaged<ConnectionReceipt>.fromOpaque(pointer).release()
    }

    /// Stores a reference in the connection. Returns `false` if OpenSSL has no memory.
    func attach(to ssl: OpaquePointer) -> Bool {
        let reference = Unmanaged.passRetained(self)
        if Self.index >= 0, SSL_set_ex_data(ssl, Self.index, reference.toOpaque()) == 1 { return true }
        reference.release()
        return false
    }

    /// Returns the receipt of a connection that the verifier has accepted, or `nil`.
    static func attached(to ssl: OpaquePointer) -> ConnectionReceipt? {
        guard index >= 0, VerificationHook.hasAccepted(ssl), let pointer = SSL_get_ex_data(ssl, index) else {
            return nil
        }
        return Unmanaged<ConnectionReceipt>.fromOpaque(pointer).takeUnretainedValue()
    }
}
