import FoundationEssentials
import Pintle
import PintleTestKit

/// A random generator with a fixed seed, so that failures are reproducible.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns the next number of SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Small sets of hosts, ports, pins, roots and dates, so that random policies often overlap.
struct PolicyAlphabet {
    struct Server {
        let path: ValidatedPath
        let leaf: Certificate
        let root: Certificate
        /// A Boolean value that indicates whether the system trusts the root.
        let isSystem: Bool

        func isValid(under anchors: TrustAnchors) -> Bool {
            isSystem && anchors.includesSystem || anchors.certificates.contains(root)
        }

        /// Returns the decision, by default of a user who has approved every server. That counts only if no rule covers
        /// the host.
        func decision(
            of policy: PinningPolicy, at endpoint: ServerEndpoint, _ instant: Date, isApproved: Bool = true
        ) throws -> TrustDecision {
            let approval = try TrustApproval(.publicKey(leaf.publicKeyPin), for: endpoint, at: instant)
            return policy.evaluate(
                endpoint, presented: [leaf.der], approvals: isApproved ? TrustApprovals([approval]) : .none, at: instant
            ) { request in
                if isValid(under: request.anchors) { return .valid(path) }
                guard request.anchors.certificates.contains(leaf) else {
                    return .invalid(PathFailure(.untrustedRoot, text: "another root"))
                }
                return .valid(ValidatedPath(uncheckedLeafToAnchor: [leaf.der]))
            }.decision
        }
    }

    /// The last name ends in the letters of the first one without being below it.
    static let hosts = [
        "example.com", "api.example.com", "v1.api.example.com", "example.net", "192.0.2.1", "notexample.com",
    ]
    static let ports: [UInt16?] = [nil, nil, 443, 8443]
    /// The hosts, a name below each, and unrelated names that look similar.
    static let probes =
        hosts + [
            "x.example.com", "x.api.example.com", "y.x.v1.api.example.com", "x.example.net", "x.notexample.com",
            "xapi.example.com", "example.com.test", "other.test",
        ]
    static let probePorts: [UInt16] = [443, 8443, 25]
    static let early = Date(timeIntervalSince1970: 1_800_000_000)
    static let late = Date(timeIntervalSince1970: 1_900_000_000)
    /// Returns every instant that rules with these dates distinguish: before and at each date.
    static func instants(of policies: PinningPolicy...) -> [Date] {
        let dates = Set(policies.flatMap { $0.hosts.compactMap(\.expiry.date) })
        return dates.isEmpty ? [early] : dates.flatMap { [$0.addingTimeInterval(-1), $0] }
    }

    let servers: [Server]
    private let pins: [Pin]
    private let anchors: [TrustAnchors]
    /// The issuers' keys; every path here has two certificates.
    private let issuers: [PublicKeyPin]

    init() throws {
        var servers: [Server] = []
        var pins: [Pin] = []
        var roots: [Certificate] = []
        for name in ["System", "Ours", "Theirs"] {
            let authority = try CertificateAuthority.root(name: name)
            let root = try Certificate(der: authority.certificate.der)
            roots.append(root)
            pins.append(Pin(.publicKey(root.publicKeyPin), at: .ca))
            pins.append(Pin(.certificate(root.fingerprint)))
            for _ in 0..<2 {
                let leaf = try Certificate(der: try authority.issue(hosts: [Self.hosts[0]]).certificate.der)
                servers.append(
                    Server(
                        path: ValidatedPath(uncheckedLeafToAnchor: [leaf.der, root.der]), leaf: leaf, root: root,
                        isSystem: name == "System"))
                pins.append(Pin(.publicKey(leaf.publicKeyPin), at: .leaf))
                pins.append(Pin(.publicKey(leaf.publicKeyPin)))
                pins.append(Pin(.certificate(leaf.fingerprint), at: .leaf))
            }
        }
        self.servers = servers
        self.pins = pins
        issuers = roots.map(\.publicKeyPin)
        anchors = [
            .system, .system, .only([roots[1]]), .only([roots[2]]), .only([roots[1], roots[2]]),
            TrustAnchors([roots[1]], includesSystem: true),
        ]
    }

    /// Returns a random rule for a host.
    func rule(for host: String, using random: inout SeededGenerator) throws -> PinnedHost {
        let name = try ServerName(host)
        var requires = PinRequirement.anyPin
        var chosen: [Pin] = []
        switch Int.random(in: 0..<8, using: &random) {
        case 0: break
        case 1:
            requires = .leafAndCA
            chosen = [
                pins.filter { $0.position == .leaf }.randomElement(using: &random),
                pins.filter { $0.position == .ca }.randomElement(using: &random),
            ].compactMap(\.self)
        default: chosen = Array(pins.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
        }
        let backup = chosen.isEmpty || requires == .leafAndCA ? [] : backupPins(beside: chosen, using: &random)
        let date = Bool.random(using: &random) ? Self.early : Self.late
        let expiries: [PinExpiry] = [.never, .never, .systemTrust(after: date), .rejecting(after: date)]
        // The order of the random draws must not change, because the tests have fixed seeds.
        var rule = PinnedHost(unchecked: name)
        rule.port = Self.ports.randomElement(using: &random) ?? nil
        rule.includesSubdomains = name.ipAddress == nil && Bool.random(using: &random)
        (rule.pins, rule.backupPins) = (chosen, backup)
        (rule.backupRequirement, rule.requires) = (.noneAccepted, requires)
        rule.expiry = expiries.randomElement(using: &random) ?? .never
        rule.enforcement = Int.random(in: 0..<5, using: &random) == 0 ? .reportOnly : .enforce
        rule.anchors = anchors.randomElement(using: &random) ?? .system
        rule.pathTerms = pathTerms(using: &random)
        return rule
    }

    /// Returns random path terms, mostly none, so that few servers are refused for their path.
    private func pathTerms(using random: inout SeededGenerator) -> PathTerms {
        PathTerms(
            minimumLength: [nil, nil, nil, nil, nil, nil, 1, 2, 2, 3].randomElement(using: &random) ?? nil,
            issuerKey: Int.random(in: 0..<6, using: &random) == 0 ? issuers.randomElement(using: &random) : nil)
    }

    /// Returns no backup pin or one, distinct from the other pins.
    private func backupPins(beside chosen: [Pin], using random: inout SeededGenerator) -> [Pin] {
        let others = pins.filter { pin in !chosen.contains { $0.subject == pin.subject } }
        return Array(others.shuffled(using: &random).prefix(Int.random(in: 0...1, using: &random)))
    }

    /// Returns distinct rules in random order.
    func rules(using random: inout SeededGenerator) throws -> [PinnedHost] {
        var known: Set<String> = []
        return try (0..<Int.random(in: 1...5, using: &random)).map { _ in
            try rule(for: Self.hosts.randomElement(using: &random) ?? "example.com", using: &random)
        }.filter { known.insert("\($0)").inserted }
    }

    /// Returns the rules of an update: the bundled rules with up to three changes.
    func update(of bundled: [PinnedHost], using random: inout SeededGenerator) throws -> [PinnedHost] {
        var rules = bundled
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard !rules.isEmpty else { break }
            let place = rules.indices.randomElement(using: &random) ?? 0
            let old = rules[place]
            let other = try rule(for: Self.hosts.randomElement(using: &random) ?? "example.com", using: &random)
            switch Int.random(in: 0..<13, using: &random) {
            case 0: rules[place] = old.with(includesSubdomains: !old.includesSubdomains && old.host.ipAddress == nil)
            case 1: rules[place].expiry = other.expiry
            case 2: rules[place].enforcement = other.enforcement
            case 3: rules[place].anchors = other.anchors
            case 4:
                rules[place].pins = other.pins
                rules[place].backupPins = other.backupPins
                rules[place].requires = other.requires
            case 5, 11: rules[place].withdrawalReason = "the key was stolen"
            case 6: rules.remove(at: place)
            case 7:
                // The backup key becomes the current key.
                guard let backup = old.backupPins.first else { break }
                rules[place].pins = [backup]
                rules[place].backupPins = Array(old.pins.prefix(1))
            case 8: rules.shuffle(using: &random)
            case 9:
                // Another issuer more often than none.
                var terms = other.pathTerms
                if old.issuerKey != nil { terms.issuerKey = terms.issuerKey ?? issuers.randomElement(using: &random) }
                rules[place].pathTerms = terms
            case 10: rules[place] = old.with(host: other.host, port: other.port)
            default: rules.append(other)
            }
        }
        var known: Set<String> = []
        return rules.filter { known.insert("\($0)").inserted }
    }
}

extension PinnedHost {
    /// Returns the rule with another host or port. A rule for an address never includes sub-domains.
    func with(host: ServerName? = nil, port: UInt16?? = nil, includesSubdomains: Bool? = nil) -> PinnedHost {
        var rule = self
        rule.host = host ?? self.host
        rule.port = port ?? self.port
        rule.includesSubdomains = (includesSubdomains ?? self.includesSubdomains) && rule.host.ipAddress == nil
        return rule
    }
}
