internal import Pintle
internal import PintleCrypto

/// One of several parts of a list of hosts, each of which another machine asks.
///
/// A host belongs to part `1 + h mod n`, where h is the first 8 bytes of the SHA-256 of its name, big-endian: the part
/// changes with neither the list nor the order in it, and every port of a host is in one.
struct AuditShard {
    let index: UInt64
    let count: UInt64

    static let all = AuditShard(index: 1, count: 1)

    private init(index: UInt64, count: UInt64) {
        self.index = index
        self.count = count
    }

    /// - Parameter text: `i/n`, 1 <= i <= n <= 10000.
    init(_ text: String) throws(ToolError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = UInt16(parts[0]), let count = UInt16(parts[1]), index >= 1, index <= count,
            count <= 10_000
        else {
            throw .usage("--shard takes I/N, such as 2/5 for the second of five parts", of: .audit)
        }
        self.init(index: UInt64(index), count: UInt64(count))
    }

    func contains(_ host: ServerName) -> Bool {
        let digest = SHA256Digest(hashing: Array(host.description.utf8)).bytes
        return AuditKey.number(digest[..<8]) % count == index - 1
    }
}
