internal import Pintle
internal import PintleCrypto

/// The servers of an audit: those on the command line, then those in the lists. If the user names neither, the hosts of
/// the policy's rules. Each server occurs once.
///
/// A list stays in memory as its bytes and is read line by line. Each server needs 16 more bytes.
struct AuditTargets {
    private let named: [AuditTarget]
    private let lists: [AuditHostList]
    private let policy: PinningPolicy?
    private let connectTo: String?
    private let shard: AuditShard
    /// The number of servers in this part.
    let count: Int
    /// The number of servers in all parts.
    let total: Int
    /// The rules that match no server of any part, if there are lists. Such a rule may have a typo.
    let unmetRules: [String]

    /// - Parameters:
    ///   - policy: supplies the hosts of its rules if the user names no servers.
    ///   - connectTo: `--connect-to`, for servers whose line names no address.
    /// - Throws: an error for every unreadable line of the lists.
    init(
        named: [ServerEndpoint], lists: [AuditHostList], policy: PinningPolicy?, connectTo: String?, shard: AuditShard
    ) throws(ToolError) {
        self.lists = lists
        self.policy = named.isEmpty && lists.isEmpty ? policy : nil
        self.connectTo = connectTo
        self.shard = shard
        // One check is enough for all servers, because they differ only in the port.
        if let connectTo { _ = try HostArgument.endpoint(connectTo) }
        self.named = named.map { AuditTarget(endpoint: $0) }
        var errors: [ToolError] = []
        for list in lists { list.check(&errors) }
        if let error = ToolError.joining(errors) { throw error }
        var iterator = Iterator(
            named: self.named, lists: lists, policy: self.policy, connectTo: connectTo, shard: .all, excluding: [])
        var (count, total) = (0, 0)
        var unmet = Set(lists.isEmpty ? 0..<0 : policy?.hosts.indices ?? 0..<0)
        while let target = iterator.next() {
            total += 1
            if shard.contains(target.endpoint.host) { count += 1 }
            if !unmet.isEmpty, let rule = policy?.rule(for: target.endpoint) { unmet.remove(rule.index) }
        }
        (self.count, self.total) = (count, total)
        unmetRules = unmet.sorted().compactMap { index in
            guard let rule = policy?.hosts[index] else { return nil }
            return rule.host.description + (rule.port.map { ":\($0)" } ?? "")
        }
    }

    /// The servers of this part, in 16 bytes each.
    var keys: Set<AuditKey> {
        var keys = Set<AuditKey>(minimumCapacity: count)
        var iterator = remaining(after: [])
        while let target = iterator.next() { keys.insert(target.key) }
        return keys
    }

    /// - Parameter known: servers that have been asked.
    func remaining(after known: Set<AuditKey>) -> Iterator {
        Iterator(named: named, lists: lists, policy: policy, connectTo: connectTo, shard: shard, excluding: known)
    }

    struct Iterator: IteratorProtocol {
        private var named: ArraySlice<AuditTarget>
        private var lists: ArraySlice<AuditHostList>
        private var lines: AuditHostList.Lines?
        private let policy: PinningPolicy?
        private var nextRule = 0
        private let connectTo: String?
        private let shard: AuditShard
        private var seen: Set<AuditKey>

        fileprivate init(
            named: [AuditTarget], lists: [AuditHostList], policy: PinningPolicy?, connectTo: String?,
            shard: AuditShard, excluding known: Set<AuditKey>
        ) {
            self.named = named[...]
            self.lists = lists[...]
            self.policy = policy
            self.connectTo = connectTo
            self.shard = shard
            seen = known
        }

        mutating func next() -> AuditTarget? {
            while var target = nextNamed() {
                guard shard.contains(target.endpoint.host) else { continue }
                if target.connectTo == nil, let connectTo {
                    target.connectTo = try? HostArgument.endpoint(connectTo, defaultPort: target.endpoint.port)
                }
                if seen.insert(target.key).inserted { return target }
            }
            return nil
        }

        private mutating func nextNamed() -> AuditTarget? {
            if let target = named.popFirst() { return target }
            while true {
                if let target = lines?.next() { return target }
                guard let list = lists.popFirst() else { break }
                lines = list.lines
            }
            guard let hosts = policy?.hosts, nextRule < hosts.count else { return nil }
            defer { nextRule += 1 }
            let rule = hosts[nextRule]
            return AuditTarget(endpoint: ServerEndpoint(host: rule.host, port: rule.port ?? 443))
        }
    }
}

/// A server that is to be asked.
struct AuditTarget {
    let endpoint: ServerEndpoint
    /// The address to connect to instead, if there is one.
    var connectTo: ServerEndpoint?

    var key: AuditKey { AuditKey(endpoint, connectTo) }
}

/// One of several shards of a list of hosts, each for another machine.
///
/// A host belongs to shard `1 + h mod n`, where h is the first 8 bytes of the SHA-256 of its name, big-endian. So its
/// shard depends neither on the other hosts nor on their order. All ports of a host are in the same shard.
struct AuditShard {
    let index: UInt64
    let count: UInt64

    static let all = AuditShard(index: 1, count: 1)

    private init(index: UInt64, count: UInt64) {
        self.index = index
        self.count = count
    }

    /// - Parameter text: `i/n`, 1 <= i <= n <= 10000.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = UInt16(parts[0]), let count = UInt16(parts[1]), index >= 1, index <= count,
            count <= 10_000
        else { return nil }
        self.init(index: UInt64(index), count: UInt64(count))
    }

    func contains(_ host: ServerName) -> Bool {
        if count == 1 { return true }
        let digest = SHA256Digest(hashing: Array(host.description.utf8)).bytes
        return AuditKey.number(digest[..<8]) % count == index - 1
    }
}
