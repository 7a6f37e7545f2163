internal import COpenSSL

/// Finds the paths that lead from a leaf to an anchor, by names and by the signatures that prove them.
///
/// OpenSSL commits itself to one issuer and never tries the next; cross-signed authorities then fail
/// although a good path exists, or end in another root than the pinned one.
struct PathSearch {
    private let others: [X509Reference]
    private let store: AnchorStore
    private var budget: PathBudget
    private var verified: [Edge: Bool] = [:]
    /// Whether something was left untried.
    private(set) var isExhausted = false

    private struct Edge: Hashable {
        let child: OpaquePointer
        let issuer: OpaquePointer
    }

    init(others: [X509Reference], store: AnchorStore, budget: PathBudget) {
        self.others = others
        self.store = store
        self.budget = budget
    }

    /// Visits paths, leaf first and anchor last, depth first, until `visit` returns `true`.
    ///
    /// Anchors are tried before what the server sent, and that in the order in which it was sent.
    @discardableResult
    mutating func visitPaths(from path: [X509Reference], _ visit: ([X509Reference]) -> Bool) -> Bool {
        guard let child = path.last else { return false }
        guard path.count < budget.depth else {
            isExhausted = true
            return false
        }
        let anchors = store.anchors(issuing: child)
        for anchor in anchors where !path.contains(where: anchor.hasSameBytes) {
            guard let isSigned = isSigned(child, by: anchor) else { return true }
            guard isSigned else { continue }
            let complete = path + [anchor]
            let cost = complete.contains { $0.hasSlowKey } ? Self.slowness : 1
            guard budget.paths >= cost else {
                isExhausted = true
                return true
            }
            budget.paths -= cost
            if visit(complete) { return true }
        }
        let wanted = X509_get_issuer_name(child.pointer)
        for issuer in others
        where X509_NAME_cmp(X509_get_subject_name(issuer.pointer), wanted) == 0
            && !path.contains(where: issuer.hasSameBytes) && !anchors.contains(where: issuer.hasSameBytes)
        {
            guard let isSigned = isSigned(child, by: issuer) else { return true }
            guard isSigned else { continue }
            if visitPaths(from: path + [issuer], visit) { return true }
        }
        return false
    }

    /// `nil` where the budget is used up.
    private mutating func isSigned(_ child: X509Reference, by issuer: X509Reference) -> Bool? {
        let edge = Edge(child: child.pointer, issuer: issuer.pointer)
        let known = verified[edge]
        let cost = known == nil && issuer.hasSlowKey ? Self.slowness : 1
        guard budget.steps >= cost else {
            isExhausted = true
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
    fileprivate var hasSlowKey: Bool {
        X509_get0_pubkey(pointer).map { EVP_PKEY_get_security_bits($0) > 128 } ?? false
    }
}
