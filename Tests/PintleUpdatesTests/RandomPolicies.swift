import FoundationEssentials
import Pintle
import PintleTestKit

/// A generator with a fixed seed: a failure comes back in the next run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Small alphabets of hosts, ports, pins, roots and dates, so that random policies meet in most of them.
struct PolicyAlphabet {
    struct Server {
        let path: ValidatedPath
        let leaf: Certificate
        let root: Certificate
        /// Whether the system trusts the root.
        let isSystem: Bool
    }

    static let hosts = ["example.com", "api.example.com", "v1.api.example.com", "example.net", "192.0.2.1"]
    static let ports: [UInt16?] = [nil, nil, 443, 8443]
    /// Each host, a name below each and one beside all of them.
    static let probes = hosts + ["x.example.com", "x.api.example.com", "y.x.v1.api.example.com", "other.test"]
    static let probePorts: [UInt16] = [443, 8443, 25]
    static let early = Date(timeIntervalSince1970: 1_800_000_000)
    static let late = Date(timeIntervalSince1970: 1_900_000_000)
    /// Before both dates, between them and after them.
    static let instants = [early.addingTimeInterval(-60), early, late].map { $0.addingTimeInterval(1) }

    let servers: [Server]
    private let pins: [Pin]
    private let anchors: [TrustAnchors]
    /// Of paths, which have two certificates here.
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
            for _ in 0..<2 {
                let leaf = try Certificate(der: try authority.issue(hosts: [Self.hosts[0]]).certificate.der)
                servers.append(
                    Server(
                        path: ValidatedPath(uncheckedLeafToAnchor: [leaf.der, root.der]), leaf: leaf, root: root,
                        isSystem: name == "System"))
                pins.append(Pin(.publicKey(leaf.publicKeyPin), at: .leaf))
                pins.append(Pin(.publicKey(leaf.publicKeyPin)))
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

    /// A rule that a policy may have.
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
        let date = Bool.random(using: &random) ? Self.early : Self.late
        let expiries: [PinExpiry] = [.never, .never, .systemTrust(after: date), .rejecting(after: date)]
        return PinnedHost(
            unchecked: name, port: Self.ports.randomElement(using: &random) ?? nil,
            includesSubdomains: name.ipAddress == nil && Bool.random(using: &random), pins: chosen, backupPins: [],
            backupRequirement: .noneAccepted, requires: requires,
            expiry: expiries.randomElement(using: &random) ?? .never,
            enforcement: Int.random(in: 0..<5, using: &random) == 0 ? .reportOnly : .enforce,
            anchors: anchors.randomElement(using: &random) ?? .system, reportTo: [],
            withdraws: nil, pathTerms: pathTerms(using: &random))
    }

    /// Mostly none, so that most servers are not refused for their path.
    private func pathTerms(using random: inout SeededGenerator) -> PathTerms {
        PathTerms(
            minimumLength: [nil, nil, nil, 1, 2, 3].randomElement(using: &random) ?? nil,
            issuerKey: Int.random(in: 0..<4, using: &random) == 0 ? issuers.randomElement(using: &random) : nil)
    }

    /// Distinct rules in random order.
    func rules(using random: inout SeededGenerator) throws -> [PinnedHost] {
        var known: Set<String> = []
        return try (0..<Int.random(in: 1...5, using: &random)).map { _ in
            try rule(for: Self.hosts.randomElement(using: &random) ?? "example.com", using: &random)
        }.filter { known.insert("\($0)").inserted }
    }

    /// The rules of an update: those of the bundled policy, with up to three changes.
    func update(of bundled: [PinnedHost], using random: inout SeededGenerator) throws -> [PinnedHost] {
        var rules = bundled
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard !rules.isEmpty else { break }
            let place = rules.indices.randomElement(using: &random) ?? 0
            let old = rules[place]
            let other = try rule(for: Self.hosts.randomElement(using: &random) ?? "example.com", using: &random)
            switch Int.random(in: 0..<11, using: &random) {
            case 0: rules[place] = old.with(includesSubdomains: !old.includesSubdomains && old.host.ipAddress == nil)
            case 1: rules[place] = old.with(expiry: other.expiry)
            case 2: rules[place] = old.with(enforcement: other.enforcement)
            case 3: rules[place] = old.with(anchors: other.anchors)
            case 4: rules[place] = old.with(pins: other.pins, requires: other.requires)
            case 5: rules[place] = old.with(withdraws: "the key was stolen")
            case 6: rules.remove(at: place)
            case 7: rules.shuffle(using: &random)
            case 8: rules[place] = old.with(pathTerms: other.pathTerms)
            case 9: rules[place] = old.with(host: other.host, port: other.port)
            default: rules.append(other)
            }
        }
        var known: Set<String> = []
        return rules.filter { known.insert("\($0)").inserted }
    }
}

extension PinnedHost {
    func with(
        host: ServerName? = nil, port: UInt16?? = nil, includesSubdomains: Bool? = nil, pins: [Pin]? = nil,
        requires: PinRequirement? = nil, expiry: PinExpiry? = nil, enforcement: Enforcement? = nil,
        anchors: TrustAnchors? = nil, withdraws: String? = nil, pathTerms: PathTerms? = nil
    ) -> PinnedHost {
        let host = host ?? self.host
        return PinnedHost(
            unchecked: host, port: port ?? self.port,
            includesSubdomains: (includesSubdomains ?? self.includesSubdomains) && host.ipAddress == nil,
            pins: pins ?? self.pins, backupPins: backupPins, backupRequirement: backupRequirement,
            requires: requires ?? self.requires, expiry: expiry ?? self.expiry,
            enforcement: enforcement ?? self.enforcement, anchors: anchors ?? self.anchors, reportTo: reportTo,
            withdraws: withdraws ?? self.withdraws, pathTerms: pathTerms ?? self.pathTerms)
    }
}
