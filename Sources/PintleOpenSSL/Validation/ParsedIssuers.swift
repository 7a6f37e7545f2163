internal import Pintle
internal import Synchronization

/// A certificate that the server sent after the leaf, as parsed by OpenSSL and by the core.
struct PresentedIssuer {
    let reference: X509Reference
    let certificate: Certificate
}

/// A cache of the issuers that OpenSSL has parsed, by their bytes.
///
/// OpenSSL 3 takes 0.1 ms to parse a certificate, as long as it takes to check a whole path, and servers send the same
/// few issuers again and again. The cache keeps only the parsed form, never a result or a verdict. Safe to use from any
/// thread.
final class ParsedIssuers: Sendable {
    private let known = Mutex<[[UInt8]: X509Reference]>([:])

    /// The limits of the cache: the number of issuers, and the size of each. Decoded names take fifty times their
    /// encoded size; with these limits, the cache stays below 10 MiB whatever servers send.
    private static let capacity = 64
    private static let largest = 2_560

    /// Returns the parsed form; `nil` if OpenSSL cannot parse it.
    func reference(to certificate: Certificate) -> X509Reference? {
        let der = certificate.der
        guard der.count <= Self.largest, certificate.isCA else { return X509Reference(der: der) }
        if let reference = known.withLock({ $0[der] }) { return reference }
        guard let reference = X509Reference(der: der) else { return nil }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[der] = reference
        }
        return reference
    }
}
