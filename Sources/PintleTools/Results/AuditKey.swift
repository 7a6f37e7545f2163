internal import Pintle
internal import PintleCrypto

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

    /// Returns the big-endian value of the bytes.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
