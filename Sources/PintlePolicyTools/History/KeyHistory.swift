internal import Pintle
internal import PintleSystem

/// The keys and certificates that a server showed over time, from the results of audits.
///
/// It holds what the results saw and concludes nothing from their absence: between two observations a server may have
/// changed more than once. Read histories with ``read(_:limits:warning:)``.
package struct KeyHistory: Sendable {
    let server: AuditServer
    /// The results with a validated path, the oldest first.
    let observations: [KeyObservation]

    /// The parts of a path that a renewal may keep.
    enum Part {
        case leafKey, intermediates, root
    }

    // MARK: Changes

    /// The differences between observations that follow each other, the oldest first.
    ///
    /// A root that a result does not name is compared with nothing; the next known root is compared with the last one.
    var changes: [KeyChange] {
        var changes: [KeyChange] = []
        var lastRoot = observations.first?.root
        var seen = Set(observations.first.map { [$0.leafCertificate] } ?? [])
        for (before, after) in zip(observations, observations.dropFirst()) {
            defer { lastRoot = after.root ?? lastRoot }
            // Observations of one path share it, which is the most frequent case.
            if before.path === after.path, lastRoot == after.root { continue }
            let isNew = seen.insert(after.leafCertificate).inserted
            let isOther = before.leafCertificate != after.leafCertificate
            let change = KeyChange(
                before: before, after: after, leafKey: before.leafKey != after.leafKey, leafCertificate: isOther,
                intermediates: before.intermediates != after.intermediates,
                root: after.root != nil && lastRoot != nil && after.root != lastRoot, isReturn: isOther && !isNew)
            if change.isAny { changes.append(change) }
        }
        return changes
    }

    /// The renewals that were seen, the oldest first: each leaf certificate that is new to the history. A server that
    /// goes back to an earlier certificate does not renew it.
    var renewals: [KeyChange] { changes.filter { $0.leafCertificate && !$0.isReturn } }

    /// A Boolean value that indicates whether the server went back to an earlier leaf certificate. A pool of servers
    /// with several certificates does, and its renewals then tell little.
    var showsSeveralLeaves: Bool { changes.contains(where: \.isReturn) }

    // MARK: Renewals

    /// The usual time between renewals in seconds: the median of the distances between the beginnings of the
    /// certificates.
    ///
    /// It is too long if the server renewed more than once between two observations.
    /// - Returns: `nil` if no renewal to a later certificate was seen.
    var renewalInterval: TimeInterval? {
        let intervals = renewals.compactMap(\.interval).sorted()
        return intervals.isEmpty ? nil : intervals[(intervals.count - 1) / 2]
    }
}

extension KeyHistory {
    /// Returns the history of a server. If it was only reached elsewhere, as with `--connect-to`, that history counts,
    /// unless there are several.
    package static func of(_ server: AuditServer, in histories: [AuditServer: KeyHistory]) -> KeyHistory? {
        if let history = histories[server] { return history }
        let others = histories.values.filter { $0.server.endpoint == server.endpoint }
        return others.count == 1 ? others.first : nil
    }
}
