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
            guard spendStep() else { return true }
            guard isSigned(child, by: anchor) else { continue }
            guard budget.paths > 0 else {
                isExhausted = true
                return true
            }
            budget.paths -= 1
            if visit(path + [anchor]) { return true }
        }
        let wanted = X509_get_issuer_name(child.pointer)
        for issuer in others
        where X509_NAME_cmp(X509_get_subject_name(issuer.pointer), wanted) == 0
            && !path.contains(where: issuer.hasSameBytes) && !anchors.contains(where: issuer.hasSameBytes)
        {
            guard spendStep() else { return true }
            guard isSigned(child, by: issuer) else { continue }
            if visitPaths(from: path + [issuer], visit) { return true }
        }
        return false
    }

    private mutating func spendStep() -> Bool {
        guard budget.steps > 0 else {
            isExhausted = true
            return false
        }
        budget.steps -= 1
        return true
    }

    private mutating func isSigned(_ child: X509Reference, by issuer: X509Reference) -> Bool {
        let edge = Edge(child: child.pointer, issuer: issuer.pointer)
        if let known = verified[edge] { return known }
        defer { ERR_clear_error() }
        guard let key = X509_get0_pubkey(issuer.pointer) else { return false }
        let isGood = X509_verify(child.pointer, key) == 1
        verified[edge] = isGood
        return isGood
    }
}
