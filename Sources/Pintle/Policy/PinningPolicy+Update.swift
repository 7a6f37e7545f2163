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

    /// Whether both decide alike about every host; the order of the rules decides nothing.
    package func hasSameRules(as other: PinningPolicy) -> Bool {
        unpinnedHosts == other.unpinnedHosts && Set(hosts) == Set(other.hosts)
    }
}
