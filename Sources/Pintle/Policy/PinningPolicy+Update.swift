#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PinningPolicy {
    private init(_ policy: PinningPolicy, updateVersion: Int) {
        storage = policy.storage
        unpinnedHosts = policy.unpinnedHosts
        allowsUpdatesForAnyHost = policy.allowsUpdatesForAnyHost
        self.updateVersion = updateVersion
    }

    /// The same policy as the update of this number.
    package func numbered(_ version: Int) -> PinningPolicy {
        PinningPolicy(self, updateVersion: version)
    }

    /// Whether both decide alike about every host; the order of the rules decides nothing, nor do fractions of a second,
    /// which a written policy does not have.
    package func hasSameRules(as other: PinningPolicy) -> Bool {
        unpinnedHosts == other.unpinnedHosts && hosts.count == other.hosts.count
            && Set(hosts.map(\.atWholeSeconds)) == Set(other.hosts.map(\.atWholeSeconds))
    }
}

extension PinnedHost {
    /// The same rule with the expiry that `RFC3339.string(from:)` writes.
    fileprivate var atWholeSeconds: PinnedHost {
        guard let date = expiry.date else { return self }
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        guard whole != date else { return self }
        var rule = self
        rule.terms.expiry =
            if case .rejecting = expiry { .rejecting(after: whole) } else { .systemTrust(after: whole) }
        return rule
    }
}
