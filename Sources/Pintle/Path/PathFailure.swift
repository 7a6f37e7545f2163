/// Why a chain of certificates is not to be believed for a host at an instant.
///
/// Its ``code`` is the most fundamental thing that is wrong; the rest is in ``detail``.
public struct PathFailure: Error, Sendable, Hashable {
    /// What can be wrong, the most fundamental first. The raw values are stable; <doc:Decisions> has the remedy for each.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The server sent no certificate.
        case emptyChain = "empty-chain"
        /// There is more to read or to compute than the limits allow.
        case limitsExceeded = "limits-exceeded"
        /// A certificate is not the DER that it should be.
        case malformedCertificate = "malformed-certificate"
        /// A signature does not verify.
        case invalidSignature = "invalid-signature"
        /// The leaf is its own issuer, and no anchor.
        case selfSigned = "self-signed"
        /// No path ends in an anchor.
        case untrustedRoot = "untrusted-root"
        /// A certificate that may not sign others has signed one.
        case notACA = "not-a-ca"
        /// More intermediates follow an authority than it allows.
        case pathLengthExceeded = "path-length-exceeded"
        /// A name lies outside of what an authority may sign for.
        case nameConstraintViolation = "name-constraint-violation"
        /// A critical extension is not understood.
        case unhandledCriticalExtension = "unhandled-critical-extension"
        /// A certificate is not for TLS servers.
        case unsuitablePurpose = "unsuitable-purpose"
        /// A key is too small, or of a kind that is not accepted.
        case weakKey = "weak-key"
        /// A signature uses a hash that is not accepted.
        case weakSignature = "weak-signature"
        /// A certificate begins later.
        case notYetValid = "not-yet-valid"
        /// A certificate has ended.
        case expired
        /// The leaf is not for this host.
        case nameMismatch = "name-mismatch"
        /// A failure of another kind, which the text names.
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
