internal import Pintle
internal import Synchronization

/// A cache of the JSON of authorities' certificates, by fingerprint and place.
///
/// The servers of an audit send the same few authorities again and again. Only certificates of authorities are kept, so
/// that the certificates of many servers do not displace them. Safe to use from any thread.
final class AuthorityJSON: Sendable {
    /// Everything that the JSON depends on.
    struct Key: Hashable {
        let certificate: CertificatePin
        let position: String
        let isSent: Bool
        let isOnPath: Bool
    }

    /// The limits of the cache: the number of certificates, and the bytes of each. The cache stays below 256 KiB,
    /// whatever servers send.
    private static let capacity = 64
    private static let largest = 4_096

    private let known = Mutex<[Key: [UInt8]]>([:])

    /// The number of certificates in the cache.
    var count: Int { known.withLock(\.count) }

    /// Returns the JSON with this key; `nil` if it is not in the cache.
    subscript(key: Key) -> [UInt8]? { known.withLock { $0[key] } }

    /// Adds JSON to the cache, unless it is too large. A full cache is emptied first.
    func add(_ json: [UInt8], for key: Key) {
        guard json.count <= Self.largest else { return }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[key] = json
        }
    }
}
