import PintleCrypto

@testable import Pintle

/// A leaf, an intermediate and a root with invalid signatures, and the pins of each.
struct TestChain {
    let certificates: [[UInt8]]

    /// Creates a chain. Chains with different numbers have different keys.
    init(_ number: Int = 0) {
        certificates = (0..<3).map { depth in
            var certificate = UnsignedCertificate()
            certificate.key = UnsignedCertificate.p256Key(number * 3 + depth)
            certificate.subject = UnsignedCertificate.commonName("\(number).\(depth)")
            certificate.issuer = UnsignedCertificate.commonName("\(number).\(min(depth + 1, 2))")
            return certificate.der
        }
    }

    /// The certificates that a server sends: all but the root.
    var presented: [[UInt8]] { Array(certificates.dropLast()) }
    var path: ValidatedPath { ValidatedPath(uncheckedLeafToAnchor: certificates) }

    func keyPin(_ depth: Int, _ position: PinPosition = .any) -> Pin {
        let pin = PublicKeyPin(sliceOf: certificates[depth])
        return Pin(.publicKey(pin ?? PublicKeyPin(digest: .ofNothing)), at: position)
    }

    func certificatePin(_ depth: Int, _ position: PinPosition = .any) -> Pin {
        Pin(.certificate(CertificatePin(certificate: certificates[depth])), at: position)
    }

    /// Returns a pin that matches no chain of these tests, for use as a backup.
    static func spare(_ number: Int = 0, _ position: PinPosition = .any) -> Pin {
        TestChain(1_000 + number).keyPin(0, position)
    }
}
