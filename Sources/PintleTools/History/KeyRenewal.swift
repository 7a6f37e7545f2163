internal import Pintle
internal import PintleSystem

/// A leaf certificate that a server had not shown before, and the observation before it.
struct KeyRenewal: Sendable {
    /// The last observation of the earlier certificate.
    let before: KeyObservation
    /// The first observation of the new certificate.
    let after: KeyObservation

    /// A Boolean value that indicates whether the new certificate has the key of the earlier one.
    var keptKey: Bool { before.leafKey == after.leafKey }
    /// A Boolean value that indicates whether the keys between leaf and root stayed the same, in the same order.
    var keptIntermediates: Bool { before.intermediates == after.intermediates }
    /// A Boolean value that indicates whether the root's key stayed the same; `nil` if one of the roots is not known.
    var keptRoot: Bool? {
        guard let before = before.root, let after = after.root else { return nil }
        return before == after
    }
    /// Returns whether a part of the path stayed the same; `nil` if that is not known.
    func keeps(_ part: KeyHistory.Part) -> Bool? {
        switch part {
        case .leafKey: keptKey
        case .intermediates: keptIntermediates
        case .root: keptRoot
        }
    }
    /// The seconds from the beginning of the earlier certificate to that of the new one; `nil` if the new one does not
    /// begin later.
    var interval: TimeInterval? {
        let seconds = after.notBefore.timeIntervalSince(before.notBefore)
        return seconds > 0 ? seconds : nil
    }
}

/// The difference between two observations of a server that follow each other.
struct KeyChange: Sendable {
    /// The last observation before the change. Observations with a gap between them follow each other too.
    let before: KeyObservation
    /// The observation that saw the change first.
    let after: KeyObservation
    let leafKey: Bool
    let leafCertificate: Bool
    let intermediates: Bool
    let root: Bool
    /// A Boolean value that indicates whether the server showed the leaf certificate earlier, such as a pool of servers
    /// with several certificates does.
    let isReturn: Bool

    var isAny: Bool { leafKey || leafCertificate || intermediates || root }
}
