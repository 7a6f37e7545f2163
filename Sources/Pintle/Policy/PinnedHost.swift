internal import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rule for one host: the keys or certificates that its server may present.
///
/// A rule does not affect path validation, which always comes first. Its terms ``minimumPathLength`` and ``issuerKey``
/// only refuse paths that validation has accepted.
public struct PinnedHost: Sendable, Hashable {
    /// The host that the rule names.
    public package(set) var host: ServerName
    /// The port that the rule is for; `nil` for every port.
    public package(set) var port: UInt16?
    /// A Boolean value that indicates whether the rule also covers the sub-domains of ``host`` at any depth.
    public package(set) var includesSubdomains = false
    /// The pins of the keys in use. If the list is empty, only path validation decides.
    public package(set) var pins: [Pin] = []
    /// The pins of keys that are not in use yet. They match like ``pins``; ``PinMatch/isBackup`` tells the two apart.
    public package(set) var backupPins: [Pin] = []
    /// The requirement of a backup pin. By default, an enforcing rule without a backup pin is an error.
    public package(set) var backupRequirement = BackupRequirement.required
    /// The pins that must match: any one, or one at the leaf and one above it.
    public package(set) var requires = PinRequirement.anyPin
    /// The expiry of the pins.
    public package(set) var expiry = PinExpiry.never
    /// The consequence of a mismatch: a refusal, or only a report.
    public package(set) var enforcement = Enforcement.enforce
    /// The roots that paths to this host may end at.
    public package(set) var anchors = TrustAnchors.system
    /// The `https` URLs to send failure reports to.
    public package(set) var reportTo: [String] = []
    /// In a signed update, the reason for withdrawing the pins of a bundled rule. The policy file calls it `withdraws`.
    package var withdrawalReason: String?
    /// The requirements on the path, apart from the pins.
    package var pathTerms = PathTerms()

    /// The minimum number of certificates on a validated path, including leaf and anchor; `nil` for no minimum.
    ///
    /// It is checked on every connection, after the path is valid and before pins are compared, even if the rule only
    /// reports, its pins have expired, or it has no pins. A shorter path is rejected as `invalid-path` with the path
    /// failure `other`. An interceptor often signs directly with its root, which makes a path of 2.
    public var minimumPathLength: Int? { pathTerms.minimumLength }

    /// The required key of the leaf's issuer, the next certificate on the validated path; `nil` for any.
    ///
    /// It is checked and rejected like ``minimumPathLength``. Public authorities replace their issuing keys without
    /// notice, so require only your own authority's key, or be ready to publish an update.
    public var issuerKey: PublicKeyPin? { pathTerms.issuerKey }

    var pinSet: PinSet { PinSet(pins: pins, backupPins: backupPins, requires: requires) }

    /// Creates a rule without checking it. The caller has to look at ``problems``.
    package init(unchecked host: ServerName) {
        self.host = host
    }

    /// Creates a rule with pins.
    ///
    /// Each pin is text, in any notation that ``PublicKeyPin/init(_:)`` reads, or a parsed pin, such as those of a
    /// ``CertificateBundle``. A list may hold both. The issuer's key is such a pin of a key; its position has no
    /// effect.
    ///
    /// - Throws: all problems of the rule at once. If the host cannot be parsed, only that problem and those of text
    ///   that is no pin.
    public init(
        _ host: String,
        port: UInt16? = nil,
        includingSubdomains: Bool = false,
        pins: [any PinConvertible],
        backupPins: [any PinConvertible] = [],
        backup: BackupRequirement = .required,
        requires: PinRequirement = .anyPin,
        expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce,
        anchors: TrustAnchors = .system,
        minimumPathLength: Int? = nil,
        issuerKey: (any PinConvertible)? = nil,
        reportTo: [String] = []
    ) throws(PolicyError) {
        var unreadable: [PolicyProblem] = []
        let pins = Self.parse(pins, "pins", of: host, &unreadable)
        var issuer: PublicKeyPin?
        do throws(PinError) {
            let pin = try issuerKey?.asPin()
            issuer = pin?.key
            if let pin, issuer == nil { throw PinError(.fingerprint, in: "\(pin)") }
        } catch {
            unreadable.append(PolicyProblem(error, at: .member("issuerKey"), of: host))
        }
        let backupPins = Self.parse(backupPins, "backupPins", of: host, &unreadable)
        do throws(ServerNameError) {
            self.init(unchecked: try ServerName(host))
        } catch {
            throw PolicyError(unreadable + [PolicyProblem(error)])
        }
        (self.port, includesSubdomains) = (port, includingSubdomains)
        (self.pins, self.backupPins, backupRequirement, self.requires) = (pins, backupPins, backup, requires)
        (self.expiry, self.enforcement, self.anchors) = (expiry, enforcement, anchors)
        pathTerms = PathTerms(minimumLength: minimumPathLength, issuerKey: issuer)
        self.reportTo = reportTo
        try PolicyError.throwIfAny(unreadable + problems)
    }

    private static func parse(
        _ list: [any PinConvertible], _ key: String, of host: String, _ problems: inout [PolicyProblem]
    ) -> [Pin] {
        var pins: [Pin] = []
        for (index, element) in list.enumerated() {
            do throws(PinError) {
                pins.append(try element.asPin())
            } catch {
                problems.append(PolicyProblem(error, at: .member(key)[index], of: host))
                // Insert a placeholder for the unreadable pin, so that the rule is not also reported for having too few
                // pins.
                pins.append(Pin(.publicKey(PublicKeyPin(digest: SHA256Digest(hashing: Array("\(element)".utf8))))))
            }
        }
        return pins
    }

    /// Creates a rule without pins: paths to this host must end at these anchors, and only path validation decides.
    ///
    /// - Throws: all problems of the rule at once.
    public init(
        _ host: String, port: UInt16? = nil, includingSubdomains: Bool = false, anchors: TrustAnchors,
        minimumPathLength: Int? = nil, issuerKey: (any PinConvertible)? = nil, reportTo: [String] = []
    ) throws(PolicyError) {
        try self.init(
            host, port: port, includingSubdomains: includingSubdomains, pins: [], anchors: anchors,
            minimumPathLength: minimumPathLength, issuerKey: issuerKey, reportTo: reportTo)
    }
}

extension PinnedHost: CustomStringConvertible {
    /// The host, and the port if the rule has one: `example.com` or `example.com:8443`.
    public var description: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}

/// The consequence if no pin matches.
public enum Enforcement: String, Sendable, Hashable, CaseIterable {
    /// The connection is refused.
    case enforce
    /// The connection goes on, and the mismatch is reported.
    case reportOnly
}

/// The pins of a rule that must match.
public enum PinRequirement: String, Sendable, Hashable, CaseIterable {
    /// Any one pin.
    case anyPin
    /// One pin at ``PinPosition/leaf`` and one at ``PinPosition/ca``.
    case leafAndCA
}

/// The expiry of a rule's pins. An expiry date prevents an app that is never updated from being locked out forever.
public enum PinExpiry: Sendable, Hashable {
    /// The pins do not expire.
    case never
    /// From this instant on (`at >= after`), path validation decides without the pins.
    case systemTrust(after: Date)
    /// From this instant on, all connections are refused.
    case rejecting(after: Date)

    /// The expiry date; `nil` for never.
    public var date: Date? {
        switch self {
        case .never: nil
        case .systemTrust(let date), .rejecting(let date): date
        }
    }
}

/// The requirement of a backup pin: the pin of a key that is not in use yet and is kept offline. Without a backup,
/// losing the key locks out every installed app.
public enum BackupRequirement: Sendable, Hashable {
    /// A rule that enforces pins without a backup pin is an error.
    case required
    /// The author accepts the risk of having no backup.
    case noneAccepted
}

extension PinExpiry {
    func isOver(at instant: Date) -> Bool {
        date.map { instant >= $0 } ?? false
    }
}
