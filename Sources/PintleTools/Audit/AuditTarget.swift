internal import Pintle
internal import PintleCrypto

/// A server that is to be asked.
struct AuditTarget {
    let endpoint: ServerEndpoint
    /// Where the bytes go instead, if anywhere.
    var connectTo: ServerEndpoint?

    var key: AuditKey { AuditKey(endpoint, connectTo) }
}

/// What makes two targets one, in 16 bytes: a set of a million fits anywhere.
///
/// The first half of a SHA-256: two targets that share it are not to be found, let alone met.
struct AuditKey: Hashable {
    private let high: UInt64
    private let low: UInt64

    init(_ endpoint: ServerEndpoint, _ connectTo: ServerEndpoint?) {
        let text = "\(endpoint)" + (connectTo.map { " \($0)" } ?? "")
        let bytes = SHA256Digest(hashing: Array(text.utf8)).bytes
        high = Self.number(bytes[..<8])
        low = Self.number(bytes[8..<16])
    }

    /// Big-endian.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

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
