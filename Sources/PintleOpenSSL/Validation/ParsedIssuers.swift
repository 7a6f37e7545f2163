internal import Pintle
internal import Synchronization

/// A certificate that came behind the leaf, as both sides know it.
struct PresentedIssuer {
    let reference: X509Reference
    let certificate: Certificate
}

/// Issuers that OpenSSL has parsed before, by their bytes.
///
/// OpenSSL 3 takes a tenth of a millisecond to parse a certificate, as long as it takes to check a whole
/// path, and servers show the same few issuers again and again. Only the parsed form is kept: nothing
/// that was found out about a certificate, and no verdict. Safe to use from any thread.
final class ParsedIssuers: Sendable {
    private let known = Mutex<[[UInt8]: X509Reference]>([:])

    /// So many at a time, of which none is larger than issuers are. Decoded names take fifty times their
    /// bytes: whatever is sent, this keeps less than 10 MiB.
    private static let capacity = 64
    private static let largest = 2_560

    /// The parsed form; `nil` where OpenSSL cannot parse it.
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
