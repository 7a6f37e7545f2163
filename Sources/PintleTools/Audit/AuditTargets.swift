internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintlePolicyTools

/// The servers of an audit: those on the command line, then those in the lists. If the user names neither, the hosts of
/// the policy's rules. Each server occurs once.
struct AuditTargets {
    /// The servers of this part.
    let servers: [AuditServer]
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
        // One check is enough for all servers, because they differ only in the port.
        if let connectTo { _ = try HostArgument.endpoint(connectTo) }
        var servers: [AuditServer] = []
        var seen: Set<AuditKey> = []
        var unmet = Set(lists.isEmpty ? 0..<0 : policy?.hosts.indices ?? 0..<0)
        func add(_ server: AuditServer) {
            var server = server
            if server.connectTo == nil, let connectTo {
                server.connectTo = try? HostArgument.endpoint(connectTo, defaultPort: server.endpoint.port)
            }
            guard seen.insert(server.key).inserted else { return }
            if shard.contains(server.endpoint.host) { servers.append(server) }
            if !unmet.isEmpty, let rule = policy?.rule(for: server.endpoint) { unmet.remove(rule.index) }
        }
        for endpoint in named { add(AuditServer(endpoint: endpoint)) }
        var errors: [ToolError] = []
        for list in lists { list.read(&errors, add) }
        if let error = ToolError.joining(errors) { throw error }
        if named.isEmpty, lists.isEmpty {
            for rule in policy?.hosts ?? [] {
                add(AuditServer(endpoint: ServerEndpoint(host: rule.host, port: rule.port ?? 443)))
            }
        }
        (self.servers, total) = (servers, seen.count)
        unmetRules = unmet.sorted().compactMap { index in
            guard let rule = policy?.hosts[index] else { return nil }
            return rule.host.description + (rule.port.map { ":\($0)" } ?? "")
        }
    }

    /// The servers of this part, in 16 bytes each.
    var keys: Set<AuditKey> { Set(servers.map(\.key)) }

    /// - Parameter known: servers that have been asked.
    func remaining(after known: Set<AuditKey>) -> [AuditServer] {
        known.isEmpty ? servers : servers.filter { !known.contains($0.key) }
    }
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
