public import Foundation
public import Pintle

extension TrustReceipt {
    /// A second look at the path that was decided on, after the response and away from the handshake.
    ///
    /// Every certificate of the path is read and hashed afresh; nothing that the handshake found out is taken on
    /// trust. Where a pin decided, it is compared once more with the certificate that it is said to have matched.
    ///
    ///     guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    ///     try receipt.expect(minimumPathLength: 3, issuerKey: PublicKeyPin("sha256/..."))
    ///
    /// It catches an interceptor that was let in by something that switched the handshake's check off but did not
    /// know of this one. Whoever can patch the app can switch off both: it raises their cost, and no more.
    ///
    /// - Parameters:
    ///   - minimumPathLength: certificates on the path, leaf and anchor included. Interceptors often sign directly
    ///     with their root: a path of 2.
    ///   - issuerKey: a key that must stand somewhere above the leaf.
    /// - Throws: what is not as expected; the first that is found.
    public func expect(
        minimumPathLength: Int, issuerKey: PublicKeyPin? = nil
    ) throws(TrustReceiptMismatch) {
        let certificates = path.certificates
        guard certificates.count >= max(1, minimumPathLength) else {
            throw TrustReceiptMismatch.pathTooShort(certificates.count)
        }
        var keys: [PublicKeyPin] = []
        for (depth, der) in certificates.enumerated() {
            do throws(DERError) {
                keys.append(try Certificate(der: der).publicKeyPin)
            } catch {
                throw TrustReceiptMismatch.unreadableCertificate(depth: depth)
            }
        }
        if let match = matchedPin {
            guard certificates.indices.contains(match.depth) else { throw TrustReceiptMismatch.pinNotOnPath(match.pin) }
            let isThere =
                switch match.pin.subject {
                case .publicKey(let pin): keys[match.depth] == pin
                case .certificate(let pin): CertificatePin(certificate: certificates[match.depth]) == pin
                }
            guard isThere else { throw TrustReceiptMismatch.pinNotOnPath(match.pin) }
        }
        if let issuerKey, !keys.dropFirst().contains(issuerKey) {
            throw TrustReceiptMismatch.issuerKeyNotOnPath(issuerKey)
        }
    }
}

/// What a ``TrustReceipt`` was found to lack on a second look.
public enum TrustReceiptMismatch: Error, Sendable, Hashable {
    /// So many certificates, and fewer than expected.
    case pathTooShort(Int)
    case unreadableCertificate(depth: Int)
    /// The receipt says that this pin matched, and its certificate says otherwise.
    case pinNotOnPath(Pin)
    /// No certificate above the leaf has this key.
    case issuerKeyNotOnPath(PublicKeyPin)
}

extension TrustReceiptMismatch: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .pathTooShort(let count): "the path has only \(count) certificates"
        case .unreadableCertificate(let depth): "the certificate at depth \(depth) cannot be read"
        case .pinNotOnPath(let pin): "\(pin) is said to have matched, and is not where it is said to be"
        case .issuerKeyNotOnPath(let pin): "no certificate above the leaf has the key \(pin)"
        }
    }
}
