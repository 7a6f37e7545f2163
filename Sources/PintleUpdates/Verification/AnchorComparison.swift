internal import Pintle

/// Compares the anchors of rules, each two sets once however many servers have them.
struct AnchorComparison {
    private struct Sets: Hashable {
        let anchors: ObjectIdentifier
        let other: ObjectIdentifier
    }

    /// Certificates that were compared.
    private(set) var work = 0
    // An identifier stays valid while the policies live, and they outlive the comparison.
    private var known: [Sets: Bool] = [:]

    /// Returns whether every root in the first set is in the other too.
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
