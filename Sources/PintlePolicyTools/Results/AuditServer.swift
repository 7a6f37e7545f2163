package import Pintle
internal import PintleCrypto

/// A server of an audit: its host and port, and the place that is connected to, if it is another.
package struct AuditServer: Hashable, Sendable, CustomStringConvertible {
    package let endpoint: ServerEndpoint
    package var connectTo: ServerEndpoint?

    package init(endpoint: ServerEndpoint, connectTo: ServerEndpoint? = nil) {
        self.endpoint = endpoint
        self.connectTo = connectTo
    }

    /// `a.example:443`, `a.example:443 at 127.0.0.1:8443`
    package var description: String { "\(endpoint)" + (connectTo.map { " at \($0)" } ?? "") }

    package var key: AuditKey { AuditKey(self) }
}

/// The identity of a server in 16 bytes, so that a set of a million servers stays small.
///
/// It is the first half of a SHA-256, for which a collision cannot be found in practice.
package struct AuditKey: Hashable {
    private let high: UInt64
    private let low: UInt64

    fileprivate init(_ server: AuditServer) {
        let text = "\(server.endpoint)" + (server.connectTo.map { " \($0)" } ?? "")
        let bytes = SHA256Digest(hashing: Array(text.utf8)).bytes
        high = Self.number(bytes[..<8])
        low = Self.number(bytes[8..<16])
    }

    /// Returns the big-endian value of the bytes.
    package static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
