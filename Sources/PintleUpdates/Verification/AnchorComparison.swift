internal import Pintle

/// Compares the anchors of rules. Caches the results, so that a pair of sets that many servers share is compared once.
struct AnchorComparison {
    private struct Sets: Hashable {
        let anchors: ObjectIdentifier
        let other: ObjectIdentifier
    }

    /// The number of certificates that were compared.
    private(set) var work = 0
    // The policies keep the identified objects alive, and they outlive the comparison.
    private var known: [Sets: Bool] = [:]

    /// Returns whether every root in the first set is also in the other.
    mutating func isNoWider(_ anchors: TrustAnchors, than other: TrustAnchors) -> Bool {
        if anchors.certificates.isEmpty { return anchors.isNoWider(than: other) }
        let sets = Sets(anchors: ObjectIdentifier(anchors.identity), other: ObjectIdentifier(other.identity))
        if let known = known[sets] { return known }
        work += anchors.certificates.count + other.certificates.count
        let isNoWider = anchors.isNoWider(than: other)
        known[sets] = isNoWider
        return isNoWider
    }
}
