internal import Pintle
internal import PintleSystem

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

    /// Returns whether a part of the path stayed the same; `nil` if one of the roots is not known.
    func keeps(_ part: KeyHistory.Part) -> Bool? {
        switch part {
        case .leafKey: return !leafKey
        case .intermediates: return !intermediates
        case .root:
            guard let before = before.root, let after = after.root else { return nil }
            return before == after
        }
    }

    /// The seconds from the beginning of the earlier certificate to that of the new one; `nil` if the new one does not
    /// begin later.
    var interval: TimeInterval? {
        let seconds = after.notBefore.timeIntervalSince(before.notBefore)
        return seconds > 0 ? seconds : nil
    }
}
