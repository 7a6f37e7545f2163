internal import PintleCrypto

/// The rule for one host: the keys or certificates that its server may present.
///
/// A rule does not affect path validation, which always comes first. Its terms ``minimumPathLength`` and ``issuerKey``
/// only refuse paths that validation has accepted.
public struct PinnedHost: Sendable, Hashable {
    /// The host that the rule names.
    public let host: ServerName
    /// The port that the rule is for; `nil` for every port.
    public let port: UInt16?
    /// A Boolean value that indicates whether the rule also covers the sub-domains of ``host`` at any depth.
    public let includesSubdomains: Bool
    /// The rule's requirements.
    package var terms: HostTerms

    /// The pins of the keys in use. If the list is empty, only path validation decides.
    public var pins: [Pin] { terms.pins }

    /// The pins of keys that are not in use yet. They match like ``pins``; ``PinMatch/isBackup`` tells the two apart.
    public var backupPins: [Pin] { terms.backupPins }

    /// The requirement of a backup pin. By default, an enforcing rule without a backup pin is an error.
    public var backupRequirement: BackupRequirement { terms.backupRequirement }

    /// The pins that must match: any one, or one at the leaf and one above it.
    public var requires: PinRequirement { terms.requires }

    /// The expiry of the pins.
    public var expiry: PinExpiry { terms.expiry }

    /// The consequence of a mismatch: a refusal, or only a report.
    public var enforcement: Enforcement { terms.enforcement }

    /// The roots that paths to this host may end at.
    public var anchors: TrustAnchors { terms.anchors }

    /// The `https` URLs to send failure reports to.
    public var reportTo: [String] { terms.reportTo }

    /// In a signed update, the reason for withdrawing the pins of a bundled rule. The policy file calls it `withdraws`.
    public var withdrawalReason: String? { terms.withdrawalReason }

    /// The minimum number of certificates on a validated path, including leaf and anchor; `nil` for no minimum.
    ///
    /// It is checked on every connection, after the path is valid and before pins are compared, even if the rule only
    /// reports, its pins have expired, or it has no pins. A shorter path is rejected as `invalid-path` with the path
    /// failure `other`. An interceptor often signs directly with its root, which makes a path of 2.
    public var minimumPathLength: Int? { terms.path.minimumLength }

    /// The required key of the leaf's issuer, the next certificate on the validated path; `nil` for any.
    ///
    /// It is checked and rejected like ``minimumPathLength``. Public authorities replace their issuing keys without
    /// notice, so require only your own authority's key, or be ready to publish an update.
    public var issuerKey: PublicKeyPin? { terms.path.issuerKey }

    package var pathTerms: PathTerms { terms.path }

    /// Creates a rule with parsed pins.
    ///
    /// - Throws: all problems of the rule at once. If the host cannot be parsed, only that problem.
    public init(
        _ host: String,
        port: UInt16? = nil,
        includingSubdomains: Bool = false,
        pins: [Pin],
        backupPins: [Pin] = [],
        backup: BackupRequirement = .required,
        requires: PinRequirement = .anyPin,
        expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce,
        anchors: TrustAnchors = .system,
        minimumPathLength: Int? = nil,
        issuerKey: PublicKeyPin? = nil,
        reportTo: [String] = []
    ) throws(PolicyError) {
        let name: ServerName
        do {
            name = try ServerName(host)
        } catch {
            throw PolicyError([PolicyProblem(error)])
        }
        self.init(
            unchecked: name, port: port, includesSubdomains: includingSubdomains,
            terms: HostTerms(
                pins: pins, backupPins: backupPins, backupRequirement: backup, requires: requires, expiry: expiry,
                enforcement: enforcement, anchors: anchors, reportTo: reportTo,
                path: PathTerms(minimumLength: minimumPathLength, issuerKey: issuerKey)))
        try PolicyError.throwIfAny(problems)
    }

    /// Creates a rule with public-key pins as text, in any notation that ``PublicKeyPin/init(_:)`` reads.
    ///
    /// - Throws: all problems of the rule at once.
    public init(
        _ host: String,
        port: UInt16? = nil,
        includingSubdomains: Bool = false,
        pins: [String],
        backupPins: [String] = [],
        backup: BackupRequirement = .required,
        expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce,
        anchors: TrustAnchors = .system,
        minimumPathLength: Int? = nil,
        issuerKey: String? = nil,
        reportTo: [String] = []
    ) throws(PolicyError) {
        var problems: [PolicyProblem] = []
        let parsed = Self.parse(pins, "pins", of: host, &problems)
        var parsedIssuer: PublicKeyPin?
        if let issuerKey {
            do {
                parsedIssuer = try PublicKeyPin(issuerKey)
            } catch {
                problems.append(PolicyProblem(error as PinError, at: .member("issuerKey"), of: host))
            }
        }
        do throws(PolicyError) {
            try self.init(
                host, port: port, includingSubdomains: includingSubdomains, pins: parsed, backupPins: backupPins,
                backup: backup, expiry: expiry, enforcement: enforcement, anchors: anchors,
                minimumPathLength: minimumPathLength, issuerKey: parsedIssuer, reportTo: reportTo)
        } catch {
            throw PolicyError(problems + error.problems)
        }
        try PolicyError.throwIfAny(problems)
    }

    /// Creates a rule with parsed pins, such as those of a ``CertificateBundle``, and with backup pins as text, in any
    /// notation that ``PublicKeyPin/init(_:)`` reads.
    ///
    /// - Throws: all problems of the rule at once.
    public init(
        _ host: String,
        port: UInt16? = nil,
        includingSubdomains: Bool = false,
        pins: [Pin],
        backupPins: [some StringProtocol],
        backup: BackupRequirement = .required,
        expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce,
        anchors: TrustAnchors = .system,
        minimumPathLength: Int? = nil,
        issuerKey: PublicKeyPin? = nil,
        reportTo: [String] = []
    ) throws(PolicyError) {
        var problems: [PolicyProblem] = []
        let parsed = Self.parse(backupPins, "backupPins", of: host, &problems)
        do throws(PolicyError) {
            try self.init(
                host, port: port, includingSubdomains: includingSubdomains, pins: pins, backupPins: parsed,
                backup: backup, expiry: expiry, enforcement: enforcement, anchors: anchors,
                minimumPathLength: minimumPathLength, issuerKey: issuerKey, reportTo: reportTo)
        } catch {
            throw PolicyError(problems + error.problems)
        }
        try PolicyError.throwIfAny(problems)
    }

    private static func parse(
        _ texts: [some StringProtocol], _ key: String, of host: String, _ problems: inout [PolicyProblem]
    ) -> [Pin] {
        var pins: [Pin] = []
        for (index, text) in texts.enumerated() {
            do {
                pins.append(Pin(.publicKey(try PublicKeyPin(text))))
            } catch {
                problems.append(PolicyProblem(error as PinError, at: .member(key)[index], of: host))
                // Insert a placeholder for the unreadable pin, so that the rule is not also reported for having too few
                // pins.
                pins.append(Pin(.publicKey(PublicKeyPin(digest: SHA256Digest(hashing: Array(text.utf8))))))
            }
        }
        return pins
    }

    /// Creates a rule without pins: paths to this host must end at these anchors, and only path validation decides.
    ///
    /// - Throws: all problems of the rule at once.
    public init(
        _ host: String, port: UInt16? = nil, includingSubdomains: Bool = false, anchors: TrustAnchors,
        minimumPathLength: Int? = nil, issuerKey: PublicKeyPin? = nil, reportTo: [String] = []
    ) throws(PolicyError) {
        try self.init(
            host, port: port, includingSubdomains: includingSubdomains, pins: [Pin](), anchors: anchors,
            minimumPathLength: minimumPathLength, issuerKey: issuerKey, reportTo: reportTo)
    }

    /// Creates a rule without checking it. The caller has to look at ``problems``.
    package init(unchecked host: ServerName, port: UInt16?, includesSubdomains: Bool, terms: HostTerms) {
        self.host = host
        self.port = port
        self.includesSubdomains = includesSubdomains
        self.terms = terms
    }
}

extension PinnedHost: CustomStringConvertible {
    /// The host, and the port if the rule has one: `example.com` or `example.com:8443`.
    public var description: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}
