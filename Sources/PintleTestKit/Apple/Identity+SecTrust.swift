import Foundation
public import Security

extension Identity {
    /// Builds the trust object that the system makes for a connection to a server with this ``chain``. Pass it to code
    /// that takes one, such as a delegate or `ServerTrustEvaluator.evaluate(_:_:at:)`.
    ///
    /// The object has the system's policy for TLS servers and no anchors, so the system by itself refuses minted
    /// certificates.
    ///
    /// - Parameter host: the host that the connection is for.
    /// - Returns: the trust object, which has not been evaluated.
    /// - Throws: ``MintingError`` if the system cannot read a certificate.
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
