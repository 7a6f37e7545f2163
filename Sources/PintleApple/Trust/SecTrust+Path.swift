import Foundation
import Pintle
import Security

extension SecTrust {
    /// The system's path, leaf first. A trust object that was not evaluated before is evaluated here.
    var certificates: [[UInt8]] {
        let path = SecTrustCopyCertificateChain(self) as? [SecCertificate]
        return (path ?? []).map { Array(SecCertificateCopyData($0) as Data) }
    }

    /// Returns a trust object for the certificates that a server presented, DER, the leaf first.
    static func presenting(_ chain: [[UInt8]]) -> SecTrust? {
        let certificates = chain.compactMap { SecCertificate.reading($0) }
        guard certificates.count == chain.count else { return nil }
        var trust: SecTrust?
        let status = SecTrustCreateWithCertificates(certificates as CFArray, SecPolicyCreateSSL(true, nil), &trust)
        return status == errSecSuccess ? trust : nil
    }
}

extension SecCertificate {
    static func reading(_ der: [UInt8]) -> SecCertificate? { SecCertificateCreateWithData(nil, Data(der) as CFData) }
}
