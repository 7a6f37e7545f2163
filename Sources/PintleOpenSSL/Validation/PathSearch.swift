internal import COpenSSL
internal import Pintle

/// Finds the paths that lead from a leaf to an anchor, by names and by the signatures that prove them.
///
/// OpenSSL commits itself to one issuer and never tries the next; cross-signed authorities then fail
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

    /// Whether a path was left untried. Where no certificate has two issuers there is but one, which
    /// OpenSSL has tried by itself, however long it is.
    var isExhausted: Bool { isCutShort && hasChoice }

    /// Visits paths, leaf first and anchor last, depth first, until `visit` returns `true`.
    ///
    /// Anchors are tried before what the server sent, and that in the order in which it was sent.
    mutating func visitPaths(from leaf: X509Reference, _ visit: ([X509Reference]) -> Bool) {
        _ = extend([leaf], strangers: 0, visit)
    }

    /// - Parameter strangers: how many on the path do not even claim to be authorities. One is followed, to be
    ///   able to say that it is none.
    /// - Returns: whether to stop.
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
        // An anchor that has an issuer may stand in the middle as well: its issuer may be the one that is pinned.
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

    /// `nil` where the budget is used up.
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

    /// How much longer a signature takes beyond a strength of 128 bits.
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
