internal import COpenSSL
public import Pintle
package import PintleSuffixes

/// Builds the certification path from a server's certificates to an anchor, and checks it.
///
/// OpenSSL validates with its strictest settings. A bounded search finds the paths that OpenSSL does not try. Checks on
/// the finished path add rules that no platform enforces. Safe to use from any thread.
///
///     let validator = PathValidator()
///     let evaluation = policy.evaluate(endpoint, presented: chain, at: Date(), validate: validator.validate)
public final class PathValidator: Sendable {
    private let system: SystemAnchors
    private let budget: PathBudget
    private let profile: PathProfile
    package let suffixes: PublicSuffixList
    private let issuers = ParsedIssuers()

    /// The limit for an RSA exponent in bits. OpenSSL has the same limit for large keys; common exponents have 17 bits.
    private static let largestExponent = 64
    /// The work of one signature by a key of 16,384 bits, OpenSSL's largest, with the usual exponent: about 2 ms.
    private static let largestWork = 16_384 * 16_384 * 17

    /// Creates a validator.
    ///
    /// - Parameter system: the roots that count as the system's.
    public convenience init(system: SystemAnchors = .shared) {
        self.init(system: system, budget: PathBudget())
    }

    package init(system: SystemAnchors = .shared, budget: PathBudget, suffixes: PublicSuffixList = .system) {
        self.system = system
        self.budget = budget
        self.suffixes = suffixes
        profile = PathProfile(
            isPublicSuffix: suffixes.contains, suffixNote: suffixes.isMissing ? PublicSuffixList.remedy : nil)
    }

    /// Reads the roots that decisions by a policy need, so that the first validation takes no longer than later ones.
    /// The system's roots take tens of milliseconds.
    ///
    /// Later calls do nothing that is already done. Roots that cannot be read make validations fail, as they do without
    /// this call.
    public func prepare(for policy: PinningPolicy) {
        system.prepare(policy.anchors)
    }

    /// Returns a path that satisfies the request. If there is none, returns any valid path, or else the failure.
    public func validate(_ request: PathRequest) -> PathOutcome {
        guard let leaf = X509Reference(der: request.chain.leaf.der) else {
            return .invalid(PathFailure(.malformedCertificate, depth: 0, text: "the library cannot read it"))
        }
        let others = request.chain.others.compactMap { certificate in
            issuers.reference(to: certificate).map { PresentedIssuer(reference: $0, certificate: certificate) }
        }
        return validate(request, leaf: leaf, others: others)
    }

    /// Validates a chain that a handshake has already parsed.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - leaf: the `X509 *`, borrowed.
    ///   - presented: the `STACK_OF(X509) *` of all certificates, including the leaf, borrowed.
    func validate(_ request: PathRequest, leaf: OpaquePointer, presented: OpaquePointer) -> PathOutcome {
        let leaf = X509Reference(borrowing: leaf)
        var others = Array(X509Stack.references(in: presented).dropFirst())
        if request.chain.unreadableCount > 0 {
            let readable = Set(request.chain.others.map(\.der))
            others.removeAll { !readable.contains($0.der) }
        }
        // Both lists hold the sent certificates in order, without those that the core cannot parse. Pins are compared
        // with the core's bytes and signatures are verified on OpenSSL's, so both must be the same certificates. If
        // none was left out, equal counts prove it.
        let pairs = zip(others, request.chain.others).map { PresentedIssuer(reference: $0, certificate: $1) }
        guard others.count == request.chain.others.count,
            request.chain.unreadableCount == 0
                || pairs.allSatisfy({ $0.reference.der == $0.certificate.der })
        else { return .invalid(PathFailure(.other, text: "two readings of the chain differ")) }
        return validate(request, leaf: leaf, others: pairs)
    }

    /// Returns whether to verify signatures by this key. A certificate can choose key parameters that make one
    /// signature as slow as a hundred others. DSA keys choose all of their parameters; no current TLS client offers
    /// DSA.
    package static func isVerifiable(by key: PublicKeyDescription) -> Bool {
        if case .dsa = key.algorithm { return false }
        guard let exponent = key.exponentBits, let bits = key.bits else { return true }
        guard exponent <= largestExponent, bits <= 1 << 20 else { return false }
        return bits * bits * exponent <= largestWork
    }

    /// Returns texts about certificates that OpenSSL cannot parse, or whose key may take too long.
    private static func unusable(_ chain: PresentedChain, parsed: [PresentedIssuer]) -> [String] {
        let texts = chain.others.lazy.compactMap { certificate -> String? in
            guard parsed.contains(where: { $0.certificate == certificate }) else {
                return PresentedChain.text(certificate.der, "the library refuses it")
            }
            guard !isVerifiable(by: certificate.publicKey) else { return nil }
            return PresentedChain.text(certificate.der, "a key of the kind \(certificate.publicKey)")
        }
        return Array(texts.prefix(PresentedChain.mostTexts))
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
        let sent = others
        let others = sent.filter { Self.isVerifiable(by: $0.certificate.publicKey) }
        let unusable = others.count == request.chain.others.count ? [] : Self.unusable(request.chain, parsed: sent)
        guard let untrusted = X509Stack(others.map(\.reference)) else {
            return .invalid(PathFailure(.other, text: "out of memory"))
        }
        var attempt = PathAttempt(
            request: request, others: others, unusable: unusable, store: store, profile: profile, budget: budget)
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

    /// Returns the anchor store for a request. If the leaf is the only anchor, as for a server that a user has
    /// approved, the store is not cached, because it is only of use for this connection.
    private func anchors(of request: PathRequest, _ leaf: X509Reference) throws(PathFailure) -> AnchorStore {
        guard !request.anchors.includesSystem, request.anchors.certificates == [request.chain.leaf] else {
            return try system.store(for: request.anchors)
        }
        guard let store = AnchorStore([leaf]) else { throw PathFailure(.other, text: "out of memory") }
        return store
    }
}
