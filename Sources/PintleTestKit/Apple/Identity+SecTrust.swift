import Foundation
public import Security

extension Identity {
    /// A trust object such as the system makes for a connection to a server that presents ``chain``, for code that takes one:
    /// a delegate, or `ServerTrustEvaluator.evaluate(_:_:at:)`.
    ///
    /// It has the system's policy for TLS servers and no anchors, so that the system by itself refuses what a test has minted.
    ///
    /// - Parameter host: the host that the connection is for.
    /// - Throws: that the system cannot read a certificate.
    public func serverTrust(for host: String) throws(MintingError) -> SecTrust {
        let operation = "making a trust object for \(host)"
        var certificates: [SecCertificate] = []
        for der in chain {
            guard let certificate = SecCertificateCreateWithData(nil, Data(der) as CFData) else {
                throw MintingError(operation: operation, reason: "the system cannot read a certificate of the chain")
            }
            certificates.append(certificate)
        }
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, host as CFString)
        let status = SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust)
        guard status == errSecSuccess, let trust else {
            throw MintingError(operation: operation, reason: "the system's status \(status)")
        }
        return trust
    }
}
