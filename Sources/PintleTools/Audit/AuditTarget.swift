internal import Pintle
internal import PintleCrypto

/// A server that is to be asked.
struct AuditTarget {
    let endpoint: ServerEndpoint
    /// The address to connect to instead, if there is one.
    var connectTo: ServerEndpoint?

    var key: AuditKey { AuditKey(endpoint, connectTo) }
}

/// The identity of a target in 16 bytes, so that a set of a million targets stays small.
///
/// It is the first half of a SHA-256, for which a collision cannot be found in practice.
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
