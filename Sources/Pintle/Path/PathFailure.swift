/// The reason why a chain of certificates is not trusted for a host at an instant.
///
/// ``code`` is the most fundamental finding; ``detail`` holds the others.
public struct PathFailure: Error, Sendable, Hashable {
    /// The kinds of failure, the most fundamental first. The raw values are stable. <doc:Decisions> lists the remedy
    /// for each.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The server sent no certificate.
        case emptyChain = "empty-chain"
        /// The chain exceeds a limit on its size or on the work to validate it.
        case limitsExceeded = "limits-exceeded"
        /// A certificate is not valid DER, or cannot be parsed.
        case malformedCertificate = "malformed-certificate"
        /// A signature is wrong.
        case invalidSignature = "invalid-signature"
        /// The leaf is its own issuer and is not a trust anchor.
        case selfSigned = "self-signed"
        /// No path ends at a trust anchor.
        case untrustedRoot = "untrusted-root"
        /// A certificate that is not a CA certificate has signed another.
        case notACA = "not-a-ca"
        /// More intermediates follow a CA certificate than its path length allows.
        case pathLengthExceeded = "path-length-exceeded"
        /// A name is outside the name constraints of a CA certificate.
        case nameConstraintViolation = "name-constraint-violation"
        /// A certificate has a critical extension that the validator does not process.
        case unhandledCriticalExtension = "unhandled-critical-extension"
        /// A certificate requires a certificate policy, and none is valid on the whole path, or the policies contradict
        /// themselves.
        case noValidCertificatePolicy = "no-valid-certificate-policy"
        /// A certificate is not meant for TLS servers.
        case unsuitablePurpose = "unsuitable-purpose"
        /// A key is too short, of an unaccepted type, or a value that is no key, such as RSA with the exponent 1.
        case weakKey = "weak-key"
        /// A signature uses an unaccepted hash.
        case weakSignature = "weak-signature"
        /// A certificate is not valid yet.
        case notYetValid = "not-yet-valid"
        /// A certificate has expired.
        case expired
        /// The leaf is not valid for this host.
        case nameMismatch = "name-mismatch"
        /// Another kind of failure, which the text describes.
        case other
    }

    /// One finding.
    public struct Finding: Sendable, Hashable {
        /// The kind of failure.
        public let code: Code
        /// The index of the certificate in the path, 0 for the leaf; `nil` if the finding is about no single
        /// certificate.
        public let depth: Int?
        /// The platform's error code, such as OpenSSL's `X509_V_ERR_…` or an `OSStatus`.
        public let platformCode: Int?
        /// The description, by the platform or by Pintle, in lower case and without a full stop. Text from certificates
        /// is escaped.
        public let text: String

        /// Creates a finding. The leaf has depth 0.
        public init(_ code: Code, depth: Int? = nil, platformCode: Int? = nil, text: String) {
            self.code = code
            self.depth = depth
            self.platformCode = platformCode
            self.text = text
        }
    }

    /// The most fundamental finding.
    public let primary: Finding
    /// The other findings, in the order of the codes. The failures that a user accepted come last, and so do findings
    /// about certificates that the server sent and that no path can include.
    public let detail: [Finding]

    /// The code of ``primary``.
    public var code: Code { primary.code }

    /// Creates a failure with a single finding.
    public init(_ code: Code, depth: Int? = nil, platformCode: Int? = nil, text: String) {
        primary = Finding(code, depth: depth, platformCode: platformCode, text: text)
        detail = []
    }

    /// Creates a failure from findings that are already in order.
    init(primary: Finding, detail: [Finding]) {
        self.primary = primary
        self.detail = detail
    }

    /// Creates a failure from findings in any order; `nil` if there are none. Duplicates are removed.
    public init?(_ findings: [Finding]) {
        var sorted: [Finding] = []
        for code in Code.allCases {
            for finding in findings where finding.code == code && !sorted.contains(finding) { sorted.append(finding) }
        }
        guard let first = sorted.first else { return nil }
        primary = first
        detail = Array(sorted.dropFirst())
    }
}

extension PathFailure {
    /// Returns this failure with a finding for each certificate that the server sent and that cannot be read, as one
    /// may be the missing issuer.
    ///
    /// - Parameter texts: the descriptions of the certificates.
    package func naming(unreadable texts: [String]) -> PathFailure {
        guard code == .untrustedRoot else { return self }
        let findings = texts.prefix(PresentedChain.mostTexts).map { Finding(.malformedCertificate, text: $0) }
        return PathFailure(primary: primary, detail: detail + findings)
    }

    /// The finding about a certificate that the server sent and that no path could include; `nil` if there is none.
    package var unreadableIssuer: Finding? {
        code == .untrustedRoot ? detail.first { $0.code == .malformedCertificate } : nil
    }
}

extension PathFailure: CustomStringConvertible {
    /// The stable code, such as `expired`.
    public var description: String { code.rawValue }
}
