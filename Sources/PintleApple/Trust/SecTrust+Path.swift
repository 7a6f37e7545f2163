import Foundation
import Pintle
import Security

/// Path validation by the system: what a decision asks for, asked of a trust object.
///
/// The system may go to the network meanwhile, for a missing issuer: never call it on the main queue.
extension SecTrust {
    /// The path as the system has it, leaf first: of a trust object that nobody has evaluated, it evaluates first.
    var certificates: [[UInt8]] {
        let path = SecTrustCopyCertificateChain(self) as? [SecCertificate]
        return (path ?? []).map { Array(SecCertificateCopyData($0) as Data) }
    }

    /// Evaluates for the host, the anchors and the instant of the request, and reads the path that was evaluated.
    func outcome(of request: PathRequest) -> PathOutcome {
        let status = prepare(for: request)
        guard status == errSecSuccess else {
            return .invalid(PathFailure(.other, platformCode: Int(status), text: "the system cannot be asked"))
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(self, &error) else {
            let status = error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) } ?? errSecNotTrusted
            return .invalid(SystemStatus.failure(status, leaf: request.chain.leaf))
        }
        let path = certificates
        // Pins are compared with this path: it has to be about the certificate that was decided on.
        guard path.first == request.chain.leaf.der else {
            return .invalid(PathFailure(.other, text: "two readings of the chain differ"))
        }
        return .valid(ValidatedPath(uncheckedLeafToAnchor: path))
    }

    private func prepare(for request: PathRequest) -> OSStatus {
        // Beside what the system asks already: every policy has to be content, so that ours can only subtract.
        var policies: CFArray?
        var status = SecTrustCopyPolicies(self, &policies)
        guard status == errSecSuccess, let known = policies as? [SecPolicy] else { return errSecInternalError }
        let acceptsOtherNames = request.accepts(.nameMismatch)
        let own = SecPolicyCreateSSL(true, acceptsOtherNames ? nil : request.host.description as CFString)
        // The policies that are known ask for the name of the host. A person has accepted another for this certificate.
        status = SecTrustSetPolicies(self, (acceptsOtherNames ? [own] : known + [own]) as CFArray)
        guard status == errSecSuccess else { return status }
        // Validators differ about the very last second.
        let lastInstant = request.chain.leaf.validity.notAfter - 1
        let instant = request.accepts(.expired) ? min(request.instant, lastInstant) : request.instant
        status = SecTrustSetVerifyDate(self, instant as CFDate)
        guard status == errSecSuccess else { return status }
        let anchors = request.anchors
        guard !anchors.certificates.isEmpty || !anchors.includesSystem else {
            return SecTrustSetAnchorCertificates(self, nil)
        }
        let certificates = anchors.certificates.compactMap { SecCertificate.reading($0.der) }
        // One that the system cannot read is no reason to go on without it.
        guard certificates.count == anchors.certificates.count else { return errSecDecode }
        status = SecTrustSetAnchorCertificates(self, certificates as CFArray)
        guard status == errSecSuccess else { return status }
        return SecTrustSetAnchorCertificatesOnly(self, !anchors.includesSystem)
    }

    /// A trust object for what a server presented, DER, the leaf first.
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
