// The numbers are those of Apple's SecBase.h.
public var errSecSuccess: OSStatus { 0 }
public var errSecParam: OSStatus { -50 }
public var errSSLATSCertificateTrustViolation: OSStatus { -9886 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecInteractionNotAllowed: OSStatus { -25308 }
public var errSecCreateChainFailed: OSStatus { -25318 }
public var errSecDecode: OSStatus { -26275 }
public var errSecMissingEntitlement: OSStatus { -34018 }
public var errSecHostNameMismatch: OSStatus { -67602 }
public var errSecUnknownCriticalExtensionFlag: OSStatus { -67603 }
public var errSecNoBasicConstraints: OSStatus { -67604 }
public var errSecNoBasicConstraintsCA: OSStatus { -67605 }
public var errSecInvalidKeyUsageForPolicy: OSStatus { -67608 }
public var errSecInvalidExtendedKeyUsage: OSStatus { -67609 }
public var errSecInvalidIDLinkage: OSStatus { -67610 }
public var errSecPathLengthConstraintExceeded: OSStatus { -67611 }
public var errSecInvalidRoot: OSStatus { -67612 }
public var errSecUnknownCertExtension: OSStatus { -67618 }
public var errSecSMIMEEmailAddressesNotFound: OSStatus { -67623 }
public var errSecIncompleteCertRevocationCheck: OSStatus { -67635 }
public var errSecTrustSettingDeny: OSStatus { -67654 }
public var errSecInvalidSubjectName: OSStatus { -67655 }
public var errSecInternalError: OSStatus { -67671 }
public var errSecInvalidData: OSStatus { -67673 }
public var errSecVerificationFailure: OSStatus { -67686 }
public var errSecInvalidSignature: OSStatus { -67688 }
public var errSecInvalidName: OSStatus { -67689 }
public var errSecInvalidCertificateRef: OSStatus { -67690 }
public var errSecKeyUsageIncorrect: OSStatus { -67731 }
public var errSecUnsupportedKeySize: OSStatus { -67735 }
public var errSecPublicKeyInconsistent: OSStatus { -67811 }
public var errSecInvalidDigestAlgorithm: OSStatus { -67815 }
public var errSecCertificateExpired: OSStatus { -67818 }
public var errSecCertificateNotValidYet: OSStatus { -67819 }
public var errSecCertificateRevoked: OSStatus { -67820 }
public var errSecVerifyActionFailed: OSStatus { -67825 }
public var errSecInvalidCertAuthority: OSStatus { -67826 }
public var errSecInvalidPolicyIdentifiers: OSStatus { -67835 }
public var errSecNotTrusted: OSStatus { -67843 }
public var errSecMissingRequiredExtension: OSStatus { -67880 }
public var errSecCertificatePolicyNotAllowed: OSStatus { -67899 }
public var errSecCertificateNameNotAllowed: OSStatus { -67900 }
public var errSecCertificateValidityPeriodTooLong: OSStatus { -67901 }
public var errSecCertificateIsCA: OSStatus { -67902 }
public var errSecCertificateDuplicateExtension: OSStatus { -67903 }
public var errSecMissingQualifiedCertStatement: OSStatus { -67904 }

/// Returns a text for a status. The texts are not Apple's, which differ from release to release.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    "stand-in for the text of status \(status)"
}
