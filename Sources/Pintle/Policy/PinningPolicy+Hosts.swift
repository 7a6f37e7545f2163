extension PinningPolicy {
    /// The rules of a policy, made anew from its compact form when they are asked for.
    public struct Hosts: RandomAccessCollection, Sendable {
        let storage: Storage

        /// Always 0.
        public var startIndex: Int { 0 }
        /// The number of rules.
        public var endIndex: Int { storage.rules.count }

        /// The rule at a position, in the order in which the rules were given.
        public subscript(position: Int) -> PinnedHost {
            let rule = storage.rules[position]
            let record = storage.table.record(at: rule.record)
            return PinnedHost(
                unchecked: ServerName(canonical: record.host), port: record.port,
                includesSubdomains: record.includesSubdomains, terms: storage.terms[Int(rule.terms)].terms)
        }
    }
}
