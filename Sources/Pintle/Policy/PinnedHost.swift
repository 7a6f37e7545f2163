internal import PintleCrypto

/// The rule for one host: which keys or certificates its server may show.
///
/// A rule says nothing about path validation, which comes first and always. Two of its terms, ``minimumPathLength`` and
/// ``issuerKey``, only refuse paths that validation has found good.
public struct PinnedHost: Sendable, Hashable {
    /// The host that the rule names.
    public let host: ServerName
    /// The port it is for; `nil` for every port.
    public let port: UInt16?
    /// Whether it covers every host that ends in a dot and ``host``, at every depth.
    public let includesSubdomains: Bool
    /// The rule's demands. Rules that demand the same share them in a policy.
    package var terms: HostTerms

    /// The pins in use. With an empty list, path validation decides by itself.
    public var pins: [Pin] { terms.pins }

    /// Pins of keys that are not in use yet. They match like ``pins``, and ``PinMatch/isBackup`` tells.
    public var backupPins: [Pin] { terms.backupPins }

    /// The requirement to have a backup pin: without one, an enforcing rule is a mistake unless its author says otherwise.
    public var backupRequirement: BackupRequirement { terms.backupRequirement }

    /// The pins that have to match: any of them, or one at the leaf and one above it.
    public var requires: PinRequirement { terms.requires }

    /// How long the pins hold.
    public var expiry: PinExpiry { terms.expiry }

    /// The consequence of a mismatch: a refusal, or only a report.
    public var enforcement: Enforcement { terms.enforcement }

    /// The roots that paths to this host may end in.
    public var anchors: TrustAnchors { terms.anchors }

    /// `https` URLs that failure reports go to.
    public var reportTo: [String] { terms.reportTo }

    /// In a signed update: why the pins of a bundled rule are taken back; `withdraws` in the policy file.
    public var withdrawalReason: String? { terms.withdrawalReason }

    /// The lowest number of certificates on a validated path, leaf and anchor counted; `nil` for no bound.
    ///
    /// Checked on every connection after the path is valid and before pins, also where the rule only reports, after its
    /// pins have expired, and where it has none. A shorter path is rejected as `invalid-path`, path failure `other`. An
    /// interceptor often signs directly with its root, which makes a path of 2.
    public var minimumPathLength: Int? { terms.path.minimumLength }

    /// The key of the certificate that has issued the leaf, which is the next one on the validated path; `nil` for any.
    ///
    /// Checked where ``minimumPathLength`` is, and rejected in the same way. An authority exchanges its issuing keys
    /// without notice: ask for one that is your own, or be ready to update.
    public var issuerKey: PublicKeyPin? { terms.path.issuerKey }

    package var pathTerms: PathTerms { terms.path }

    /// A rule with parsed pins.
    ///
    /// - Throws: every problem of the rule at once; a host that cannot be read is the only one.
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

    /// A rule with public-key pins as text, in any notation that ``PublicKeyPin/init(_:)`` reads.
    ///
    /// - Throws: every problem of the rule at once.
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
        func parse(_ texts: [String], _ key: String) -> [Pin] {
            var pins: [Pin] = []
            for (index, text) in texts.enumerated() {
                do {
                    pins.append(try .publicKey(text))
                } catch {
                    problems.append(PolicyProblem(error as PinError, at: .member(key)[index], of: host))
                    // Stands in, so that the rule is not blamed for lacking what is there and unreadable.
                    pins.append(Pin(.publicKey(PublicKeyPin(digest: SHA256Digest(hashing: Array(text.utf8))))))
                }
            }
            return pins
        }
        let parsed = parse(pins, "pins")
        let parsedBackups = parse(backupPins, "backupPins")
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
                host, port: port, includingSubdomains: includingSubdomains, pins: parsed,
                backupPins: parsedBackups, backup: backup, expiry: expiry, enforcement: enforcement,
                anchors: anchors, minimumPathLength: minimumPathLength, issuerKey: parsedIssuer, reportTo: reportTo)
        } catch {
            throw PolicyError(problems + error.problems)
        }
        try PolicyError.throwIfAny(problems)
    }

    /// A rule without pins: paths to this host end in these anchors, and the path alone decides.
    ///
    /// - Throws: every problem of the rule at once.
    public init(
        _ host: String, port: UInt16? = nil, includingSubdomains: Bool = false, anchors: TrustAnchors,
        minimumPathLength: Int? = nil, issuerKey: PublicKeyPin? = nil, reportTo: [String] = []
    ) throws(PolicyError) {
        try self.init(
            host, port: port, includingSubdomains: includingSubdomains, pins: [Pin](), anchors: anchors,
            minimumPathLength: minimumPathLength, issuerKey: issuerKey, reportTo: reportTo)
    }

    /// A rule whose ``problems`` the caller looks at.
    package init(unchecked host: ServerName, port: UInt16?, includesSubdomains: Bool, terms: HostTerms) {
        self.host = host
        self.port = port
        self.includesSubdomains = includesSubdomains
        self.terms = terms
    }
}

extension PinnedHost: CustomStringConvertible {
    /// `example.com`, or `example.com:8443` for a rule with a port.
    public var description: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}
