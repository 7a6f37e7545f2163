import FoundationEssentials
import Pintle
import PintleTestKit

@testable import PintlePolicyFile
@testable import PintleUpdates

/// Servers, and what the decision says about a rule and each of them. It is small, so that all pairs of policies of a
/// family can be compared.
///
/// A set of servers is a mask with one bit for each server at each instant, and one for plain HTTP.
final class ScopeAlphabet {
    typealias Servers = UInt64

    /// Before, at and between the dates of the rules: from each of these instants on, other rules are open.
    static let instants = [PolicyAlphabet.early - 1, PolicyAlphabet.early, PolicyAlphabet.late]
    static let plainHTTP: Servers = 1 << 63

    /// Three keys, each below the system's root and below two private ones, directly and by an intermediate.
    let servers: [PolicyAlphabet.Server]
    private let issuers: [PublicKeyPin]
    private let serverNames: [String]
    let ours: Certificate
    let theirs: Certificate
    private let pinNames: [Pin: String]
    /// Pins of the first and the second key, of the first one at the leaf, of its certificate, and of the intermediate.
    let (first, second, firstAtLeaf, firstCertificate, intermediate): (Pin, Pin, Pin, Pin, Pin)
    /// The issuer of half of the servers below the system's root, and that of the other half.
    let (intermediateKey, systemKey): (PublicKeyPin, PublicKeyPin)
    private var known: [PinnedHost: JudgedRule] = [:]

    init() throws {
        func root(_ name: String) throws -> Certificate {
            try Certificate(der: try CertificateAuthority.root(name: name).certificate.der)
        }
        let system = try root("System")
        (ours, theirs) = (try root("Ours"), try root("Theirs"))
        let (middle, stranger) = (try root("Middle"), try root("Stranger"))
        let authority = try CertificateAuthority.root(name: "Issuer")
        let leaves = try (0..<3).map { _ in try Certificate(der: try authority.issue(hosts: ["a.test"]).certificate.der)
        }
        var servers: [PolicyAlphabet.Server] = []
        var issuers: [PublicKeyPin] = []
        var names: [String] = []
        func add(_ leaf: Int, _ above: [Certificate]) {
            let path = [leaves[leaf]] + above
            servers.append(
                PolicyAlphabet.Server(
                    path: ValidatedPath(uncheckedLeafToAnchor: path.map(\.der)), leaf: path[0],
                    root: path[path.count - 1],
                    isSystem: above.last == system))
            issuers.append(above[0].publicKeyPin)
            names.append("\(["A", "B", "C"][leaf]), " + above.map { "\($0.subject)" }.joined(separator: ", "))
        }
        for leaf in leaves.indices {
            for above in [[system], [middle, system], [ours], [middle, ours], [theirs]] { add(leaf, above) }
        }
        for leaf in [0, 2] {
            add(leaf, [system, ours])
            // The intermediate does not issue the certificate.
            add(leaf, [theirs, middle, system])
        }
        add(2, [middle, theirs])
        // No rule and no system trusts the root.
        add(2, [stranger])
        (self.servers, self.issuers, serverNames) = (servers, issuers, names)
        (first, second) = (Pin(.publicKey(leaves[0].publicKeyPin)), Pin(.publicKey(leaves[1].publicKeyPin)))
        firstAtLeaf = Pin(.publicKey(leaves[0].publicKeyPin), at: .leaf)
        firstCertificate = Pin(.certificate(leaves[0].fingerprint))
        intermediate = Pin(.publicKey(middle.publicKeyPin), at: .ca)
        (intermediateKey, systemKey) = (middle.publicKeyPin, system.publicKeyPin)
        pinNames = [
            first: "A", second: "B", firstAtLeaf: "A as leaf", firstCertificate: "certificate A",
            intermediate: "Middle",
        ]
    }

    private func mask(_ isIn: (_ server: Int, _ instant: Date) throws -> Bool) rethrows -> Servers {
        var mask: Servers = 0
        for server in servers.indices {
            for (place, instant) in Self.instants.enumerated() where try isIn(server, instant) {
                mask |= 1 << Servers(server * Self.instants.count + place)
            }
        }
        return mask
    }

    /// Returns the first of some servers, and when.
    func text(_ servers: Servers) -> String {
        guard servers & ~Self.plainHTTP != 0 else { return "plain HTTP" }
        let bit = servers.trailingZeroBitCount
        return "\(serverNames[bit / Self.instants.count]) at \(bit % Self.instants.count)"
    }

    /// Returns the servers that have a valid path under these anchors.
    func servers(under anchors: TrustAnchors) -> Servers {
        mask { server, _ in servers[server].isValid(under: anchors) }
    }

    /// Returns the servers whose decision `isIn` accepts, where this rule decides, or none.
    private func decided(
        _ rule: PinnedHost?, _ unpinned: PinningPolicy.UnpinnedHosts = .systemTrust, isApproved: Bool = true,
        where isIn: (TrustDecision) -> Bool
    ) throws -> Servers {
        let policy = try PinningPolicy(hosts: rule.map { [$0] } ?? [], unpinnedHosts: unpinned)
        let endpoint = ServerEndpoint(host: try ServerName("a.test"), port: 443)
        return try mask { isIn(try servers[$0].decision(of: policy, at: endpoint, $1, isApproved: isApproved)) }
    }

    /// Returns the servers that are trusted without a rule: by a user who has approved all of them, and by another.
    func trustedWithoutRule(_ unpinned: PinningPolicy.UnpinnedHosts) throws -> [Servers] {
        try [true, false].map { try decided(nil, unpinned, isApproved: $0, where: \.isTrusted) }
    }

    /// Returns the servers that a pin matches, whatever their root.
    private func servers(matching pin: Pin) throws -> Servers {
        var rule = PinnedHost(unchecked: try ServerName("a.test"))
        (rule.pins, rule.backupRequirement) = ([pin], .noneAccepted)
        rule.anchors = TrustAnchors([ours, theirs], includesSystem: true)
        return try decided(rule, where: \.isTrusted)
    }

    /// Returns what the decision says about a rule. It does not depend on the rule's host.
    func judged(_ rule: PinnedHost) throws -> JudgedRule {
        var plain = rule
        plain.withdrawalReason = nil
        plain = plain.with(host: try ServerName("a.test"), port: .some(nil), includesSubdomains: false)
        if let known = known[plain] { return known.of(rule) }
        var anyIssuer = plain
        anyIssuer.pathTerms.issuerKey = nil
        func isOver(_ decision: TrustDecision) -> Bool {
            if case .rejected(.pinsExpired) = decision { true } else { false }
        }
        func isMatch(_ decision: TrustDecision) -> Bool {
            if case .trusted(.pinMatched) = decision { true } else { false }
        }
        let pins = try (rule.pins + rule.backupPins).map {
            JudgedRule.JudgedPin(pin: $0, name: pinNames[$0] ?? "", servers: try servers(matching: $0))
        }
        let leaves = pins.filter { $0.pin.position == .leaf }.reduce(0) { $0 | $1.servers }
        let authorities = pins.filter { $0.pin.position == .ca }.reduce(0) { $0 | $1.servers }
        let judged = JudgedRule(
            rule: plain, trusted: try decided(plain, where: \.isTrusted), matched: try decided(plain, where: isMatch),
            byAnyIssuer: try decided(anyIssuer, where: \.isTrusted),
            overByAnyIssuer: try decided(anyIssuer, where: isOver),
            pins: pins,
            withBoth: leaves & authorities, valid: servers(under: rule.anchors),
            long: mask { server, _ in servers[server].path.certificates.count >= rule.minimumPathLength ?? 1 },
            issued: mask { server, _ in rule.issuerKey.map { $0 == issuers[server] } ?? true })
        known[plain] = judged
        return judged.of(rule)
    }
}

/// A rule, and the servers that it concerns.
struct JudgedRule: CustomStringConvertible {
    struct JudgedPin {
        let pin: Pin
        let name: String
        let servers: ScopeAlphabet.Servers
    }

    private(set) var rule: PinnedHost
    let trusted: ScopeAlphabet.Servers
    /// The trusted servers that a pin matches.
    let matched: ScopeAlphabet.Servers
    /// The servers that the rule would trust without its `issuerKey`.
    let byAnyIssuer: ScopeAlphabet.Servers
    /// The servers that the rule, without its `issuerKey`, would refuse because its pins are over.
    let overByAnyIssuer: ScopeAlphabet.Servers
    let pins: [JudgedPin]
    /// The servers that a pin of a leaf and one of an authority match.
    let withBoth: ScopeAlphabet.Servers
    /// The servers that have a valid path, one that is long enough, and one by the issuer that the rule names.
    let valid, long, issued: ScopeAlphabet.Servers

    func of(_ rule: PinnedHost) -> JudgedRule {
        var judged = self
        judged.rule = rule
        return judged
    }

    func covers(_ endpoint: ServerEndpoint) -> Bool {
        rule.port ?? endpoint.port == endpoint.port && covers(endpoint.host)
    }

    func covers(_ host: ServerName) -> Bool {
        rule.host == host || rule.includesSubdomains && "\(host)".hasSuffix(".\(rule.host)")
    }

    func isBelow(_ other: JudgedRule) -> Bool { "\(rule.host)".hasSuffix(".\(other.rule.host)") }

    var withdraws: Bool { rule.withdrawalReason != nil }

    var description: String {
        let expiry =
            switch rule.expiry {
            case .never: ""
            case .systemTrust(let date): date == PolicyAlphabet.early ? "open at 1" : "open at 2"
            case .rejecting(let date): date == PolicyAlphabet.early ? "rejecting at 1" : "rejecting at 2"
            }
        let words: [String] = [
            rule.includesSubdomains ? "sub-domains" : "",
            pins.isEmpty ? "" : "pins \(pins.map(\.name).joined(separator: ", "))",
            rule.requires == .leafAndCA ? "both" : "", rule.enforcement == .reportOnly ? "reportOnly" : "", expiry,
            rule.anchors.includesSystem ? "" : "no system",
            rule.anchors.certificates.isEmpty
                ? "" : "\(rule.anchors.certificates.count) anchors",
            rule.minimumPathLength.map { "length \($0)" } ?? "", rule.issuerKey == nil ? "" : "issuer",
            withdraws ? "withdraws" : "",
        ]
        return ([rule.description] + words.filter { !$0.isEmpty }).joined(separator: " ")
    }
}

/// A policy of a family, and the servers that it trusts.
struct JudgedPolicy: CustomStringConvertible {
    let policy: PinningPolicy
    let embedded: EmbeddedPolicy
    /// The rules, by the family's places.
    let rules: [JudgedRule?]
    /// The place of the rule that decides about each endpoint.
    let deciding: [Int?]
    /// The servers that the policy trusts at each endpoint, for a user who has approved all of them.
    let trusted: [ScopeAlphabet.Servers]
    /// The same for another user.
    let trustedUnapproved: [ScopeAlphabet.Servers]

    init(
        _ rules: [JudgedRule?], _ unpinned: PinningPolicy.UnpinnedHosts, allowsAnyHost: Bool,
        at endpoints: [ServerEndpoint], withoutRule: [ScopeAlphabet.Servers]
    ) throws {
        let policy = try PinningPolicy(
            hosts: rules.compactMap(\.?.rule), unpinnedHosts: unpinned, updateVersion: 0,
            allowsUpdatesForAnyHost: allowsAnyHost)
        let places = rules.indices.filter { rules[$0] != nil }
        let deciding = endpoints.map { policy.rule(for: $0).map { places[$0.index] } }
        let ports = policy.portsOfRules
        let plain = endpoints.map {
            policy.allowsPlainHTTP(to: $0, ports: ports) ? ScopeAlphabet.plainHTTP : 0
        }
        // Only the rule that decides has an effect (D10 of Specification/decision.md; DecisionModelTests).
        let trusted = withoutRule.map { withoutRule in
            zip(deciding, plain).map { place, plain in
                (place.flatMap { rules[$0] }?.trusted ?? withoutRule) | plain
            }
        }
        (self.trusted, trustedUnapproved) = (trusted[0], trusted[1])
        (self.policy, embedded, self.rules, self.deciding) = (policy, EmbeddedPolicy(policy), rules, deciding)
    }

    func hasSameAnswers(as other: JudgedPolicy) -> Bool {
        trusted == other.trusted && trustedUnapproved == other.trustedUnapproved
    }

    var description: String {
        "\(policy.unpinnedHosts)\(policy.allowsUpdatesForAnyHost ? " anyHost" : "")"
            + " {\(rules.compactMap(\.?.description).joined(separator: "; "))}"
    }
}
