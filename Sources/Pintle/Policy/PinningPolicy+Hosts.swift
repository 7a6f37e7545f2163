extension PinningPolicy {
    /// The rules of a policy, made anew from its compact form when they are asked for.
    public struct Hosts: RandomAccessCollection, Sendable {
        let storage: Storage

        public var startIndex: Int { 0 }
        public var endIndex: Int { storage.rules.count }

        public subscript(position: Int) -> PinnedHost {
            let rule = storage.rules[position]
            let record = storage.table.record(at: rule.record)
            return PinnedHost(
                unchecked: ServerName(canonical: record.host), port: record.port,
                includesSubdomains: record.includesSubdomains, terms: storage.terms[Int(rule.terms)].terms)
        }
    }
}
