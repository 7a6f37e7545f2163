import Pintle
import Security
import Testing

/// The statuses that the checks of the system can end with: `SecPolicyChecks.list` of Security 61901.
struct SystemCheck: Sendable, CustomTestStringConvertible {
    let status: OSStatus
    /// The checks with this status, by the names in the list.
    let checks: [String]
    let meaning: Meaning

    enum Meaning: Sendable {
        /// A TLS server can cause the status. The kind is the place in the system's order of flaws.
        case server(PathFailure.Code, StandIn.FlawKind)
        /// No TLS server causes the status, for this reason. The path is refused all the same.
        case elsewhere(String)
    }

    init(_ status: OSStatus, _ checks: String, _ meaning: Meaning) {
        self.status = status
        self.checks = checks.split(separator: " ").map(String.init)
        self.meaning = meaning
    }

    var testDescription: String { "\(status) \(checks.first ?? "")" }

    private static let markers =
        "LeafMarkerOid LeafMarkerOidWithoutValueCheck LeafMarkersProdAndQA IntermediateMarkerOid "
        + "IntermediateMarkerOidWithoutValueCheck RootMarkerOid"
    /// Only `NonEmptySubject` is in the policy for servers.
    private static let subjects =
        "NonEmptySubject SubjectCommonName SubjectCommonNamePrefix SubjectCommonNameTEST SubjectOrganization "
        + "SubjectOrganizationalUnit IssuerCommonName IssuerCommonNamePrefix IntermediateOrganization "
        + "IntermediateCountry"
    private static let toggles =
        "NoNetworkAccess ExtendedValidation RevocationOnline RevocationIfTrusted RevocationDbIgnored"

    static let all: [SystemCheck] = [
        .init(errSSLATSCertificateTrustViolation, "LeafSPKISHA256 CAspkiSHA256", .server(.other, .pinning)),
        .init(-26_276, toggles, .elsewhere("switches of an evaluation, which have no result")),
        .init(errSecCreateChainFailed, "MissingIntermediate", .server(.untrustedRoot, .trust)),
        .init(errSecHostNameMismatch, "SSLHostname EAPTrustedServerNames URI", .server(.nameMismatch, .name)),
        .init(
            errSecUnknownCriticalExtensionFlag, "CriticalExtensions",
            .server(.unhandledCriticalExtension, .compliance)),
        .init(errSecNoBasicConstraints, "BasicConstraints", .server(.notACA, .compliance)),
        .init(errSecNoBasicConstraintsCA, "BasicConstraintsCA", .server(.notACA, .compliance)),
        .init(errSecInvalidKeyUsageForPolicy, "KeyUsage", .server(.notACA, .usage)),
        .init(
            errSecInvalidExtendedKeyUsage,
            "ExtendedKeyUsage ServerAuthEKU IntermediateEKU EmailProtectionEKU SinglePurposeChainEKU",
            .server(.unsuitablePurpose, .usage)),
        .init(errSecInvalidIDLinkage, "IdLinkage", .server(.untrustedRoot, .compliance)),
        .init(
            errSecPathLengthConstraintExceeded, "BasicConstraintsPathLen ChainLength",
            .server(.pathLengthExceeded, .compliance)),
        .init(
            errSecInvalidRoot, "AnchorSHA256 AnchorApple PinningRequired",
            .elsewhere("demanded by policies for Apple's own servers")),
        .init(errSecUnknownCertExtension, "UnparseableExtension", .server(.malformedCertificate, .compliance)),
        .init(errSecSMIMEEmailAddressesNotFound, "Email", .elsewhere("demanded by policies for mail")),
        .init(
            errSecIncompleteCertRevocationCheck, "RevocationResponseRequired",
            .elsewhere("demanded by a revocation policy, which an app has to add to the trust object")),
        .init(errSecTrustSettingDeny, "UsageConstraints", .server(.other, .denied)),
        .init(errSecInvalidSubjectName, subjects, .server(.malformedCertificate, .compliance)),
        .init(errSecInvalidData, "MarkRepresentation", .elsewhere("demanded by policies for logos in mail")),
        .init(errSecInvalidName, "NameConstraints", .server(.nameConstraintViolation, .compliance)),
        .init(
            errSecInvalidCertificateRef, "BasicCertificateProcessing", .server(.malformedCertificate, .compliance)),
        .init(
            errSecUnsupportedKeySize, "KeySize WeakKeySize SystemTrustedWeakKey", .server(.weakKey, .keySize)),
        .init(
            errSecPublicKeyInconsistent, "IntermediateSPKISHA256",
            .elsewhere("demanded by policies for Apple's own servers")),
        .init(
            errSecInvalidDigestAlgorithm, "SignatureHashAlgorithms WeakSignature SystemTrustedWeakHash",
            .server(.weakSignature, .weakHash)),
        .init(errSecCertificateExpired, "TemporalValidity ValidLeaf ValidRoot", .server(.expired, .dates)),
        .init(errSecCertificateNotValidYet, "NotValidBefore", .elsewhere("demanded by policies for accessories")),
        .init(errSecCertificateRevoked, "Revocation BlackListedLeaf BlackListedKey", .server(.other, .revoked)),
        .init(
            errSecVerifyActionFailed, "SystemTrustedCTRequired NonTlsCTRequired", .server(.other, .compliance)),
        .init(
            errSecInvalidPolicyIdentifiers, "PolicyConstraints CertificatePolicy",
            .server(.noValidCertificatePolicy, .compliance)),
        .init(
            errSecNotTrusted, "AnchorTrusted GrayListedLeaf GrayListedKey CTRequired",
            .server(.untrustedRoot, .trust)),
        .init(
            errSecMissingRequiredExtension, markers, .elsewhere("demanded by policies for Apple's own certificates")),
        .init(
            errSecCertificatePolicyNotAllowed, "IssuerPolicyConstraints",
            .server(.noValidCertificatePolicy, .blocked)),
        .init(
            errSecCertificateNameNotAllowed, "IssuerNameConstraints", .server(.nameConstraintViolation, .blocked)),
        .init(
            errSecCertificateValidityPeriodTooLong,
            "OtherTrustValidityPeriod SystemTrustValidityPeriod ValidityPeriodMaximums",
            .server(.other, .compliance)),
        .init(errSecCertificateIsCA, "NotCA", .elsewhere("demanded by policies for OCSP responders and accessories")),
        .init(errSecCertificateDuplicateExtension, "DuplicateExtension", .server(.malformedCertificate, .compliance)),
        .init(
            errSecMissingQualifiedCertStatement, "QWAC",
            .elsewhere("a path without the statement is accepted as an ordinary one")),
    ]
}
