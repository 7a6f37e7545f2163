internal import COpenSSL
public import Pintle

/// Builds the certification path from what a server presented to an anchor, and checks it.
///
/// OpenSSL does the work, in its strictest settings; a bounded search finds the paths that it does not
/// try; and what all platforms let through is checked on the finished path. Safe to use from any thread.
///
///     let validator = PathValidator()
///     let evaluation = policy.evaluate(endpoint, presented: chain, at: Date(), validate: validator.validate)
public final class PathValidator: Sendable {
    private let system: SystemAnchors
    private let budget: PathBudget
    private let profile = PathProfile(isPublicSuffix: PublicSuffixList.contains)
    private let issuers = ParsedIssuers()

    /// Bits of an RSA exponent. OpenSSL draws the same line for large keys; 17 are in use.
    private static let largestExponent = 64
    /// The work of one signature by a key of 16,384 bits, OpenSSL's largest, with the usual exponent: about 2 ms.
    private static let largestWork = 16_384 * 16_384 * 17

    /// - Parameter system: the roots of paths that may end in the system's.
    public convenience init(system: SystemAnchors = .shared) {
        self.init(system: system, budget: PathBudget())
    }

    package init(system: SystemAnchors = .shared, budget: PathBudget) {
        self.system = system
        self.budget = budget
    }

    /// The path that satisfies the request; any valid one where none does; or why there is none.
    public func validate(_ request: PathRequest) -> PathOutcome {
        guard let leaf = X509Reference(der: request.chain.leaf.der) else {
            return .invalid(PathFailure(.malformedCertificate, depth: 0, text: "the library cannot read it"))
        }
        let others = request.chain.others.compactMap { certificate in
            issuers.reference(to: certificate).map { PresentedIssuer(reference: $0, certificate: certificate) }
        }
        return validate(request, leaf: leaf, others: others)
    }

    /// The same for a chain that a handshake has parsed already.
    ///
    /// - Parameters:
    ///   - leaf: `X509 *`, borrowed.
    ///   - presented: `STACK_OF(X509) *` of everything that was sent, the leaf included, borrowed.
    func validate(_ request: PathRequest, leaf: OpaquePointer, presented: OpaquePointer) -> PathOutcome {
        let leaf = X509Reference(borrowing: leaf)
        var others = Array(X509Stack.references(in: presented).dropFirst())
        if request.chain.unreadableCount > 0 {
            let readable = Set(request.chain.others.map(\.der))
            others.removeAll { !readable.contains($0.der) }
        }
        // Both are what was sent, in that order, without what the core cannot read. Pins are compared with the
        // core's bytes, signatures are verified on OpenSSL's: they have to be the same certificates. Where
        // nothing was left out, their number says it.
        let pairs = zip(others, request.chain.others).map { PresentedIssuer(reference: $0, certificate: $1) }
        guard others.count == request.chain.others.count,
            request.chain.unreadableCount == 0
                || pairs.allSatisfy({ $0.reference.der == $0.certificate.der })
        else { return .invalid(PathFailure(.other, text: "two readings of the chain differ")) }
        return validate(request, leaf: leaf, others: pairs)
    }

    /// Returns whether signatures by this key may be verified. With numbers of its own choice a certificate makes one of
    /// them take as long as a hundred others. No TLS client of today offers DSA, whose keys choose all of their numbers.
    private static func isVerifiable(by key: PublicKeyDescription) -> Bool {
        if case .dsa = key.algorithm { return false }
        guard let exponent = key.exponentBits, let bits = key.bits else { return true }
        guard exponent <= largestExponent, bits <= 1 << 20 else { return false }
        return bits * bits * exponent <= largestWork
    }

    private func validate(_ request: PathRequest, leaf: X509Reference, others: [PresentedIssuer]) -> PathOutcome {
        guard Verification.canJudge(request.instant) else {
            return .invalid(PathFailure(.other, text: "the instant is not one that a clock shows"))
        }
        let store: AnchorStore
        do {
            store = try anchors(of: request, leaf)
        } catch {
            return .invalid(error)
        }
        let others = others.filter { Self.isVerifiable(by: $0.certificate.publicKey) }
        guard let untrusted = X509Stack(others.map(\.reference)) else {
            return .invalid(PathFailure(.other, text: "out of memory"))
        }
        var attempt = PathAttempt(request: request, others: others, store: store, profile: profile, budget: budget)
        if system.names(request.chain.leaf.der, in: request.anchors) {
            attempt.tryLeafAsAnchor(leaf)
        }
        if attempt.isSettled { return attempt.outcome }
        attempt.tryPath { verification in verification.run(leaf: leaf, untrusted: untrusted, store: store) }
        if attempt.isSettled { return attempt.outcome }

        var search = PathSearch(others: others, store: store, budget: budget)
        search.visitPaths(from: leaf) { path in
            attempt.tryPath(path)
            return attempt.isSettled
        }
        if search.isExhausted { attempt.addExhaustion() }
        return attempt.outcome
    }

    /// A leaf that is its own anchor alone, as the servers are that a person has approved, comes and goes with the
    /// connection: nothing is remembered of it.
    private func anchors(of request: PathRequest, _ leaf: X509Reference) throws(PathFailure) -> AnchorStore {
        guard !request.anchors.includesSystem, request.anchors.certificates == [request.chain.leaf] else {
            return try system.store(for: request.anchors)
        }
        guard let store = AnchorStore([leaf]) else { throw PathFailure(.other, text: "out of memory") }
        return store
    }
}
