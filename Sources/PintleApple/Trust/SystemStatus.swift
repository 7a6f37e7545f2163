import Foundation
import Pintle
import Security

/// Translates the system's statuses to the terms of the core.
///
/// The system names one status, that of the first kind of flaw in an order of its own, and a status may stand for
/// several flaws.
enum SystemStatus {
    /// - Parameters:
    ///   - status: what the evaluation ended with.
    ///   - leaf: what the server presented first.
    ///   - path: DER, as far as the system got, leaf first.
    ///   - instant: when every certificate had to be valid.
    static func failure(_ status: OSStatus, _ leaf: Certificate, path: [[UInt8]], at instant: Date) -> PathFailure {
        if status == errSecCertificateExpired, let failure = dates(path, at: instant) { return failure }
        return PathFailure(code(of: status, leaf: leaf), platformCode: Int(status), text: text(of: status))
    }

    /// One status stands for a certificate that begins later and for one that has ended. The dates say which.
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
        // The system's words for these do not say what is wrong.
        case errSecVerifyActionFailed: "no proof that the certificate was logged (certificate transparency)"
        case errSecTrustSettingDeny: "a trust setting of this device denies the certificate"
        case errSecCertificateValidityPeriodTooLong: "the certificate is valid for longer than the system allows"
        default: systemText(of: status)
        }
    }

    /// The system's own words say the names in a certificate as they are, so those that name none are taken.
    private static func systemText(of status: OSStatus) -> String {
        let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        return text.isEmpty ? "the system's status \(status)" : text
    }

    private static func code(of status: OSStatus, leaf: Certificate) -> PathFailure.Code {
        switch status {
        case errSecNotTrusted, errSecCreateChainFailed, errSecInvalidRoot, errSecInvalidCertAuthority:
            leaf.isSelfIssued ? .selfSigned : .untrustedRoot
        // The authority key identifier names another issuer than the path has.
        case errSecInvalidIDLinkage: .untrustedRoot
        case errSecInvalidSignature, errSecVerificationFailure: .invalidSignature
        case errSecNoBasicConstraints, errSecNoBasicConstraintsCA: .notACA
        case errSecPathLengthConstraintExceeded: .pathLengthExceeded
        case errSecInvalidName, errSecCertificateNameNotAllowed: .nameConstraintViolation
        case errSecUnknownCriticalExtensionFlag: .unhandledCriticalExtension
        case errSecInvalidExtendedKeyUsage, errSecInvalidKeyUsageForPolicy, errSecKeyUsageIncorrect: .unsuitablePurpose
        case errSecUnsupportedKeySize: .weakKey
        case errSecInvalidDigestAlgorithm: .weakSignature
        case errSecCertificateNotValidYet: .notYetValid
        case errSecCertificateExpired: .expired
        case errSecHostNameMismatch: .nameMismatch
        case errSecDecode, errSecUnknownCertExtension, errSecCertificateDuplicateExtension: .malformedCertificate
        // Revoked, valid for too long, not logged, denied by a setting, against a policy of its issuer: the text or the
        // status says which. None of these may be approved.
        default: .other
        }
    }
}
