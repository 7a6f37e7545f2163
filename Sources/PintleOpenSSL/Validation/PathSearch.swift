internal import COpenSSL
internal import Pintle
internal import Synchronization

/// Finds the paths from a leaf to an anchor, by names and verified signatures.
///
/// OpenSSL commits itself to one issuer and never tries another. With cross-signed authorities it can therefore fail
/// although a good path exists, or end in another root than the pinned one.
struct PathSearch {
    private let others: [PresentedIssuer]
    private let store: AnchorStore
    private var budget: PathBudget
    private var verified: [Edge: Bool] = [:]
    private var hasChoice = false
    private var isCutShort = false

    private struct Edge: Hashable {
        let child: OpaquePointer
        let issuer: OpaquePointer
    }

    init(others: [PresentedIssuer], store: AnchorStore, budget: PathBudget) {
        self.others = others
        self.store = store
        self.budget = budget
    }

    /// A Boolean value that indicates whether a path was left untried. If no certificate has two issuers there is only
    /// one path, and OpenSSL has already tried it, however long it is.
    var isExhausted: Bool { isCutShort && hasChoice }

    /// Visits paths depth first, each from the leaf to the anchor, until `visit` returns `true`.
    ///
    /// Tries anchors before the certificates from the server, and these in the order in which they were sent.
    mutating func visitPaths(from leaf: X509Reference, _ visit: ([X509Reference]) -> Bool) {
        _ = extend([leaf], strangers: 0, visit)
    }

    /// - Parameters:
    ///   - path: the path so far, the leaf first.
    ///   - strangers: the number of certificates on the path that do not claim to be authorities. The search follows
    ///     one, so that the error can say that it is not an authority.
    ///   - visit: called with each complete path.
    /// - Returns: `true` to stop the search.
    private mutating func extend(
        _ path: [X509Reference], strangers: Int, _ visit: ([X509Reference]) -> Bool
    ) -> Bool {
        guard let child = path.last else { return false }
        guard path.count < budget.depth else {
            isCutShort = true
            return false
        }
        var signers = 0
        let anchors = store.anchors(issuing: child)
        for anchor in anchors where !path.contains(where: anchor.hasSameBytes) {
            guard let isSigned = isSigned(child, by: anchor) else { return true }
            guard isSigned else { continue }
            signers += 1
            hasChoice = hasChoice || signers > 1
            let complete = path + [anchor]
            guard spendPath(complete) else { return true }
            if visit(complete) { return true }
        }
        // A cross-signed anchor may also stand in the middle of a path, because its issuer may be the pinned one.
        for anchor in anchors where !anchor.isSelfIssued && !path.contains(where: anchor.hasSameBytes) {
            guard let isSigned = isSigned(child, by: anchor) else { return true }
            if isSigned, extend(path + [anchor], strangers: strangers, visit) { return true }
        }
        let wanted = X509_get_issuer_name(child.pointer)
        for issuer in others
        where X509_NAME_cmp(X509_get_subject_name(issuer.reference.pointer), wanted) == 0
            && !path.contains(where: issuer.reference.hasSameBytes)
            && !anchors.contains(where: issuer.reference.hasSameBytes)
        {
            let strangers = strangers + (issuer.certificate.isCA ? 0 : 1)
            guard strangers <= 1 else { continue }
            guard let isSigned = isSigned(child, by: issuer.reference) else { return true }
            guard isSigned else { continue }
            signers += 1
            hasChoice = hasChoice || signers > 1
            if extend(path + [issuer.reference], strangers: strangers, visit) { return true }
        }
        return false
    }

    private mutating func spendPath(_ path: [X509Reference]) -> Bool {
        let cost = path.contains { $0.hasSlowKey } ? Self.slowness : 1
        guard budget.paths >= cost else {
            (isCutShort, hasChoice) = (true, true)
            return false
        }
        budget.paths -= cost
        return true
    }

    /// Returns whether the issuer's key verifies the signature; `nil` if the budget is used up.
    private mutating func isSigned(_ child: X509Reference, by issuer: X509Reference) -> Bool? {
        let edge = Edge(child: child.pointer, issuer: issuer.pointer)
        let known = verified[edge]
        let cost = known == nil && issuer.hasSlowKey ? Self.slowness : 1
        guard budget.steps >= cost else {
            (isCutShort, hasChoice) = (true, true)
            return nil
        }
        budget.steps -= cost
        if let known { return known }
        defer { ERR_clear_error() }
        let isGood = X509_get0_pubkey(issuer.pointer).map { X509_verify(child.pointer, $0) == 1 } ?? false
        verified[edge] = isGood
        return isGood
    }

    /// The cost of a signature by a key that is stronger than 128 bits, relative to other signatures.
    private static let slowness = 5
}

extension X509Reference {
    fileprivate var isSelfIssued: Bool {
        X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    fileprivate var hasSlowKey: Bool {
        X509_get0_pubkey(pointer).map { EVP_PKEY_get_security_bits($0) > 128 } ?? false
    }
}

/// The limits of the work for one chain. Without limits, any server could send certificates that form endlessly many
/// paths.
package struct PathBudget: Sendable, Hashable {
    /// The number of signatures that the search verifies, for keys with a strength of up to 128 bits. A signature by a
    /// stronger key counts fivefold, because it takes five times as long.
    package var steps = 200
    /// The number of paths to an anchor that the search tries; each costs a validation. A path with a stronger key
    /// counts fivefold.
    package var paths = 100
    /// The number of certificates in a path that the search builds, including leaf and anchor.
    package var depth = 10
    /// The number of intermediates in any path.
    package var maximumIntermediates = 100
    /// The number of comparisons of names with name constraints, and of certificate policies (``PathPolicies``), over
    /// all paths for one chain. A comparison of more than 64 bytes counts as several, and one with an otherName as 128.
    /// Each name of a certificate is compared with each subtree of every authority above it; e-mail addresses in
    /// subjects count as names.
    ///
    /// OpenSSL's own limit is 1,048,576 for each pair of certificates, and a path of 100 has 4,950 pairs.
    package var nameComparisons = 1_000_000

    package init() {}
}

/// A certificate that the server sent after the leaf, as parsed by OpenSSL and by the core.
struct PresentedIssuer {
    let reference: X509Reference
    let certificate: Certificate
}

/// A cache of the issuers that OpenSSL has parsed, by their bytes.
///
/// OpenSSL 3 takes 0.1 ms to parse a certificate, as long as it takes to check a whole path, and servers send the same
/// few issuers again and again. The cache keeps only the parsed form, never a result or a verdict. Safe to use from any
/// thread.
final class ParsedIssuers: Sendable {
    private let known = Mutex<[[UInt8]: X509Reference]>([:])

    /// The limits of the cache: the number of issuers, and the size of each. Decoded names take fifty times their
    /// encoded size; with these limits, the cache stays below 10 MiB whatever servers send.
    private static let capacity = 64
    private static let largest = 2_560

    /// Returns the parsed form; `nil` if OpenSSL cannot parse it.
    func reference(to certificate: Certificate) -> X509Reference? {
        let der = certificate.der
        guard der.count <= Self.largest, certificate.isCA else { return X509Reference(der: der) }
        if let reference = known.withLock({ $0[der] }) { return reference }
        guard let reference = X509Reference(der: der) else { return nil }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[der] = reference
        }
        return reference
    }
}
