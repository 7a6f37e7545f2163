/// Why a chain of certificates is not to be believed for a host at an instant.
///
/// Its ``code`` is the most fundamental thing that is wrong; the rest is in ``detail``.
public struct PathFailure: Error, Sendable, Hashable {
    /// What can be wrong, the most fundamental first. The raw values are stable; <doc:Decisions> has the remedy for each.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case emptyChain = "empty-chain"
        case limitsExceeded = "limits-exceeded"
        case malformedCertificate = "malformed-certificate"
        case invalidSignature = "invalid-signature"
        case selfSigned = "self-signed"
        case untrustedRoot = "untrusted-root"
        case notACA = "not-a-ca"
        case pathLengthExceeded = "path-length-exceeded"
        case nameConstraintViolation = "name-constraint-violation"
        case unhandledCriticalExtension = "unhandled-critical-extension"
        case unsuitablePurpose = "unsuitable-purpose"
        case weakKey = "weak-key"
        case weakSignature = "weak-signature"
        case notYetValid = "not-yet-valid"
        case expired
        case nameMismatch = "name-mismatch"
        case other
    }

    /// One thing that is wrong.
    public struct Finding: Sendable, Hashable {
        /// The kind of failure.
        public let code: Code
        /// Which certificate of the path: 0 is the leaf; `nil` where it is none in particular.
        public let depth: Int?
        /// The platform's own number for it, such as OpenSSL's `X509_V_ERR_…` or an `OSStatus`.
        public let platformCode: Int?
        /// The platform's words, or ours; lower case, no full stop. Text out of certificates is escaped.
        public let text: String

        /// A finding about the certificate at a depth, 0 for the leaf.
        public init(_ code: Code, depth: Int? = nil, platformCode: Int? = nil, text: String) {
            self.code = code
            self.depth = depth
            self.platformCode = platformCode
            self.text = text
        }
    }

    /// The most fundamental of the findings.
    public let primary: Finding
    /// The other findings, in the order of the codes; of an approved server last what the person has accepted.
    public let detail: [Finding]

    /// The code of ``primary``.
    public var code: Code { primary.code }

    /// A failure with a single finding.
    public init(_ code: Code, depth: Int? = nil, platformCode: Int? = nil, text: String) {
        primary = Finding(code, depth: depth, platformCode: platformCode, text: text)
        detail = []
    }

    /// Findings that are in their order already.
    init(primary: Finding, detail: [Finding]) {
        self.primary = primary
        self.detail = detail
    }

    /// `nil` where nothing was found. Findings that say the same are kept once.
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

extension PathFailure: CustomStringConvertible {
    /// The stable code: `expired`.
    public var description: String { code.rawValue }
}
