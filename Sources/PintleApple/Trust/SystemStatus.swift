import Pintle
import Security

/// What the system's codes mean in the terms of the core.
enum SystemStatus {
    static func failure(_ status: OSStatus, leaf: Certificate) -> PathFailure {
        PathFailure(code(of: status, leaf: leaf), platformCode: Int(status), text: text(of: status))
    }

    /// The system's own words say the names in a certificate as they are, so those that name none are taken.
    private static func text(of status: OSStatus) -> String {
        let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        return text.isEmpty ? "the system's status \(status)" : text
    }

    static func code(of status: OSStatus, leaf: Certificate) -> PathFailure.Code {
        switch status {
        case errSecNotTrusted, errSecCreateChainFailed, errSecInvalidRoot, errSecInvalidCertAuthority:
            leaf.isSelfIssued ? .selfSigned : .untrustedRoot
        case errSecInvalidSignature, errSecVerificationFailure: .invalidSignature
        case errSecNoBasicConstraints, errSecNoBasicConstraintsCA: .notACA
        case errSecPathLengthConstraintExceeded: .pathLengthExceeded
        case errSecCertificateNameNotAllowed: .nameConstraintViolation
        case errSecUnknownCriticalExtensionFlag: .unhandledCriticalExtension
        case errSecInvalidExtendedKeyUsage, errSecInvalidKeyUsageForPolicy, errSecKeyUsageIncorrect: .unsuitablePurpose
        case errSecUnsupportedKeySize: .weakKey
        case errSecInvalidDigestAlgorithm: .weakSignature
        case errSecCertificateNotValidYet: .notYetValid
        case errSecCertificateExpired: .expired
        case errSecHostNameMismatch: .nameMismatch
        case errSecDecode: .malformedCertificate
        // Revoked, valid for too long, against a policy of its issuer: the status says which.
        default: .other
        }
    }
}
