internal import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What happens when a served key is not pinned.
public enum Enforcement: String, Sendable, Hashable, CaseIterable {
    /// The connection is refused.
    case enforce
    /// The connection goes on, and the mismatch is reported.
    case reportOnly
}

/// Which of a rule's pins have to match.
public enum PinRequirement: String, Sendable, Hashable, CaseIterable {
    /// One of them.
    case anyPin
    /// One that says ``PinPosition/leaf`` and one that says ``PinPosition/ca``.
    case leafAndCA
}

/// How long pins hold. A date keeps an app that nobody updates from being locked out for good.
public enum PinExpiry: Sendable, Hashable {
    /// They hold for good.
    case never
    /// From this instant on (`at >= after`) the path's validation decides alone.
    case systemTrust(after: Date)
    /// From this instant on nothing is accepted.
    case rejecting(after: Date)

    /// The instant; `nil` for never.
    public var date: Date? {
        switch self {
        case .never: nil
        case .systemTrust(let date), .rejecting(let date): date
        }
    }
}

/// Whether enforced pins come with a backup: a key that is not in use yet, kept offline, without which
/// a lost key locks every installed app out.
public enum BackupRequirement: Sendable, Hashable {
    /// Enforced pins without a backup are a problem of the policy.
    case required
    /// The author accepts the risk.
    case noneAccepted
}

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
    /// The pins in use; none, and the path alone decides.
    public let pins: [Pin]
    /// Pins of keys that are not in use yet. They match like ``pins``, and ``PinMatch/isBackup`` tells.
    public let backupPins: [Pin]
    /// Whether enforced pins without a backup are a mistake.
    public let backupRequirement: BackupRequirement
    public let requires: PinRequirement
    public let expiry: PinExpiry
    public let enforcement: Enforcement
    /// The roots that paths to this host may end in.
    public let anchors: TrustAnchors
    /// `https` URLs that failure reports go to.
    public let reportTo: [String]
    /// In a signed update: why the pins of a bundled rule are taken back.
    public let withdraws: String?
    /// The rule's demands on the path, beside its pins.
    package let pathTerms: PathTerms

    /// The lowest number of certificates on a validated path, leaf and anchor counted; `nil` for no bound.
    ///
    /// Checked on every connection after the path is valid and before pins, also where the rule only reports, after its
    /// pins have expired, and where it has none. A shorter path is rejected as `invalid-path`, path failure `other`. An
    /// interceptor often signs directly with its root, which makes a path of 2.
    public var minimumPathLength: Int? { pathTerms.minimumLength }

    /// The key of the certificate that has issued the leaf, which is the next one on the validated path; `nil` for any.
    ///
    /// Checked where ``minimumPathLength`` is, and rejected in the same way. An authority exchanges its issuing keys
    /// without notice: ask for one that is your own, or be ready to update.
    public var issuerKey: PublicKeyPin? { pathTerms.issuerKey }

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
            unchecked: name, port: port, includesSubdomains: includingSubdomains, pins: pins,
            backupPins: backupPins, backupRequirement: backup, requires: requires, expiry: expiry,
            enforcement: enforcement, anchors: anchors, reportTo: reportTo, withdraws: nil,
            pathTerms: PathTerms(minimumLength: minimumPathLength, issuerKey: issuerKey))
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
                    problems.append(PolicyProblem(error as PinError, at: "\(key)[\(index)]", of: host))
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
                problems.append(PolicyProblem(error as PinError, at: "issuerKey", of: host))
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
    package init(
        unchecked host: ServerName, port: UInt16?, includesSubdomains: Bool, pins: [Pin], backupPins: [Pin],
        backupRequirement: BackupRequirement, requires: PinRequirement, expiry: PinExpiry,
        enforcement: Enforcement, anchors: TrustAnchors, reportTo: [String], withdraws: String?, pathTerms: PathTerms
    ) {
        self.host = host
        self.port = port
        self.includesSubdomains = includesSubdomains
        self.pins = pins
        self.backupPins = backupPins
        self.backupRequirement = backupRequirement
        self.requires = requires
        self.expiry = expiry
        self.enforcement = enforcement
        self.anchors = anchors
        self.reportTo = reportTo
        self.withdraws = withdraws
        self.pathTerms = pathTerms
    }
}

extension PinnedHost: CustomStringConvertible {
    /// `example.com`, or `example.com:8443` for a rule with a port.
    public var description: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}
