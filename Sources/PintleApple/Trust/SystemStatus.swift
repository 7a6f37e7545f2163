import Foundation
import Pintle
import Security

/// A translation of the system's statuses into path failures.
///
/// The system reports only one status: the first kind of flaw in its own order. One status may stand for several kinds
/// of flaw.
enum SystemStatus {
    /// Returns the path failure for a status.
    ///
    /// - Parameters:
    ///   - status: The status that the evaluation ended with.
    ///   - leaf: The first certificate that the server presented.
    ///   - path: The path as far as the system built it, DER, leaf first.
    ///   - instant: The time at which every certificate had to be valid.
    static func failure(_ status: OSStatus, _ leaf: Certificate, path: [[UInt8]], at instant: Date) -> PathFailure {
        if status == errSecCertificateExpired, let failure = dates(path, at: instant) { return failure }
        return PathFailure(code(of: status, leaf: leaf), platformCode: Int(status), text: text(of: status))
    }

    /// Returns the certificates on the path that are not valid at the time. The system uses one status for expired
    /// certificates and for ones that are not valid yet; the dates tell them apart.
    private static func dates(_ path: [[UInt8]], at instant: Date) -> PathFailure? {
        var findings: [PathFailure.Finding] = []
        for (depth, der) in path.enumerated() {
            guard let validity = try? Validity(ofCertificate: der), !validity.contains(instant) else { continue }
            let code: PathFailure.Code = instant < validity.notBefore ? .notYetValid : .expired
            findings.append(
                .init(
                    code, depth: depth, platformCode: Int(errSecCertificateExpired),
                    text: text(of: code == .expired ? errSecCertificateExpired : errSecCertificateNotValidYet)))
        }
        return PathFailure(findings)
    }

    private static func text(of status: OSStatus) -> String {
        switch status {
        // The system's texts for these statuses do not say what is wrong.
        case errSSLATSCertificateTrustViolation:
            "NSPinnedDomains in the app's Info.plist has no pin of this path; add the key there, or remove the entry"
        case errSecCertificateRevoked: "the certificate was revoked, or the system blocks it or its issuer"
        case errSecVerifyActionFailed: "no proof that the certificate was logged (certificate transparency)"
        case errSecTrustSettingDeny: "a trust setting of this device denies the certificate"
        case errSecCertificateValidityPeriodTooLong: "the certificate is valid for longer than the system allows"
        default: systemText(of: status)
        }
    }

    /// Returns the system's text for a status. Takes the text without names, because the other form includes names from
    /// the certificate unescaped.
    private static func systemText(of status: OSStatus) -> String {
        let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        return text.isEmpty ? "the system's status \(status)" : text
    }

    private static func code(of status: OSStatus, leaf: Certificate) -> PathFailure.Code {
        switch status {
        case errSecNotTrusted, errSecCreateChainFailed, errSecInvalidRoot, errSecInvalidCertAuthority:
            leaf.isSelfIssued ? .selfSigned : .untrustedRoot
        // The authority key identifier names an issuer that is not the one on the path.
        case errSecInvalidIDLinkage: .untrustedRoot
        case errSecInvalidSignature, errSecVerificationFailure: .invalidSignature
        // The policy for servers asks for a key usage only of authorities, which must be allowed to sign certificates.
        case errSecNoBasicConstraints, errSecNoBasicConstraintsCA, errSecInvalidKeyUsageForPolicy: .notACA
        case errSecPathLengthConstraintExceeded: .pathLengthExceeded
        case errSecInvalidName, errSecCertificateNameNotAllowed: .nameConstraintViolation
        case errSecUnknownCriticalExtensionFlag: .unhandledCriticalExtension
        case errSecInvalidExtendedKeyUsage, errSecKeyUsageIncorrect: .unsuitablePurpose
        case errSecUnsupportedKeySize: .weakKey
        case errSecInvalidDigestAlgorithm: .weakSignature
        case errSecCertificateNotValidYet: .notYetValid
        case errSecCertificateExpired: .expired
        case errSecHostNameMismatch: .nameMismatch
        case errSecDecode, errSecUnknownCertExtension, errSecCertificateDuplicateExtension, errSecInvalidSubjectName,
            errSecInvalidCertificateRef:
            .malformedCertificate
        case errSecCertificatePolicyNotAllowed, errSecInvalidPolicyIdentifiers: .noValidCertificatePolicy
        // The certificate is revoked, valid for too long, not logged, denied by a setting, or has no pin of the
        // Info.plist. The text or the status says which.
        default: .other
        }
    }
}
