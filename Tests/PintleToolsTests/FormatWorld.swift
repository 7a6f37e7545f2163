import FoundationEssentials
import Pintle
import PintleTestKit

@testable import PintlePolicyTools

/// Servers whose paths combine every leaf key with every key of an authority and every root. A key of a leaf is also
/// the key of an authority, so that each position of a pin has a server that matches only there.
struct FormatWorld {
    enum Root: CaseIterable {
        /// A root that every device trusts.
        case system
        /// A root that only the app has.
        case own
        /// A root that the user installed.
        case user
    }

    struct Server {
        /// The leaf, the authority and the root.
        let path: [Pintle.Certificate]
        let root: Root
        /// The hashes of the keys in base64, leaf first.
        let keys: [String]
        /// The hash of the leaf's certificate in hexadecimal digits.
        let leafHash: String
        let presented: [[UInt8]]
        let outcome: PathOutcome

        init(_ path: [Pintle.Certificate], _ root: Root) {
            self.path = path
            self.root = root
            keys = path.map { $0.publicKeyPin.base64 }
            leafHash = path[0].fingerprint.description
            presented = [path[0].der]
            outcome = .valid(ValidatedPath(uncheckedLeafToAnchor: path.map(\.der)))
        }

        var rootPEM: String { path[2].pem }
    }

    /// The number of keys; rules pin all but the last one.
    static let keyCount = 4
    static let now = Date(timeIntervalSince1970: 1_795_046_400)

    let leaves: [Pintle.Certificate]
    let authorities: [Pintle.Certificate]
    let roots: [Root: Pintle.Certificate]
    let servers: [Server]

    init() throws {
        var leaves: [Pintle.Certificate] = []
        var authorities: [Pintle.Certificate] = []
        let issuer = try CertificateAuthority.root()
        for _ in 0..<Self.keyCount {
            let key = try PrivateKey(.p256)
            leaves.append(try Pintle.Certificate(der: issuer.issue(hosts: ["example.com"], key: key).certificate.der))
            let authority = try CertificateTemplate.forAuthority("Authority").minted(for: key, by: issuer)
            authorities.append(try Pintle.Certificate(der: authority.der))
        }
        var roots: [Root: Pintle.Certificate] = [:]
        for root in Root.allCases {
            roots[root] = try Pintle.Certificate(der: CertificateAuthority.root().certificate.der)
        }
        self.leaves = leaves
        self.authorities = authorities
        self.roots = roots
        servers = leaves.flatMap { leaf in
            authorities.flatMap { authority in
                Root.allCases.compactMap { root in roots[root].map { Server([leaf, authority, $0], root) } }
            }
        }
    }

    /// Returns whether a policy trusts a server, on a device that trusts only the system's roots.
    func trusts(_ policy: PinningPolicy, _ endpoint: ServerEndpoint, _ server: Server, at instant: Date) -> Bool {
        let evaluation = policy.evaluate(endpoint, presented: server.presented, at: instant) { request in
            let isTrusted =
                request.anchors.includesSystem && server.root == .system
                || request.anchors.certificates.contains(server.path[2])
            return isTrusted
                ? server.outcome : .invalid(PathFailure(.untrustedRoot, depth: 2, text: "not in this world"))
        }
        return evaluation.decision.isTrusted
    }
}

// MARK: Random policies

extension FormatWorld {
    private static let names = [
        "example.com", "api.example.com", "v1.api.example.com", "other.org", "deep.cdn.other.org", "corp.internal",
        "intranet", "192.0.2.7",
    ]

    func policy(_ numbers: inout SeededNumbers) throws -> PinningPolicy {
        var hosts: [PinnedHost] = []
        let withPorts = numbers.chance(25)
        for (index, name) in Self.names.enumerated() where numbers.chance(index < 5 ? 50 : 12) {
            let ports: [UInt16?] =
                withPorts && numbers.chance(50) ? [[8443], [nil, 443], [nil, 8443]].pick(&numbers) : [nil]
            for port in ports { hosts.append(try rule(name, port, &numbers)) }
        }
        if hosts.isEmpty { hosts.append(try rule("example.com", nil, &numbers)) }
        return try PinningPolicy(hosts: hosts, unpinnedHosts: numbers.chance(10) ? .reject : .systemTrust)
    }

    private func rule(_ name: String, _ port: UInt16?, _ numbers: inout SeededNumbers) throws -> PinnedHost {
        let needsBoth = numbers.chance(20)
        var pins: [Pin] = []
        if numbers.chance(85) {
            // Most rules have one position, as people write them.
            let common = [PinPosition.any, .leaf, .ca].pick(&numbers)
            for _ in 0..<Int.random(in: 1...2, using: &numbers) {
                let position = numbers.chance(70) && !needsBoth ? common : [PinPosition.leaf, .ca].pick(&numbers)
                pins.append(pin(position, &numbers))
            }
            if needsBoth { pins += [pin(.leaf, &numbers), pin(.ca, &numbers)] }
        }
        var seen: Set<Pin> = []
        pins = pins.filter { seen.insert($0).inserted }
        let hours = Int.random(in: 2_400...16_800, using: &numbers)
        let date = Self.now + Double(numbers.chance(50) ? hours / 24 * 24 : hours) * 3_600
        let own = TrustAnchors(roots[.own].map { [$0] } ?? [], includesSystem: numbers.chance(50))
        return try PinnedHost(
            name, port: port,
            includingSubdomains: numbers.chance(50) && name.contains(".") && name.first?.isNumber == false, pins: pins,
            backup: .noneAccepted, requires: needsBoth && !pins.isEmpty ? .leafAndCA : .anyPin,
            expiry: [.never, .never, .never, .systemTrust(after: date), .rejecting(after: date)].pick(&numbers),
            enforcement: numbers.chance(12) ? .reportOnly : .enforce, anchors: numbers.chance(80) ? .system : own)
    }

    private func pin(_ position: PinPosition, _ numbers: inout SeededNumbers) -> Pin {
        let index = Int.random(in: 0..<(Self.keyCount - 1), using: &numbers)
        let isFingerprint = numbers.chance(12)
        // The certificate of a leaf is on no path as that of an authority.
        let isAuthority = position == .ca || position == .any && isFingerprint
        let certificate = isAuthority ? authorities[index] : leaves[index]
        return Pin(
            isFingerprint ? .certificate(certificate.fingerprint) : .publicKey(certificate.publicKeyPin),
            at: position)
    }

    /// Returns the hosts of rules, their parents, and the names one and two labels below.
    static func probes(of hosts: [ServerName]) throws -> [ServerName] {
        var names: [String] = ["stranger.net"]
        for host in hosts {
            names.append(host.description)
            guard host.ipAddress == nil else { continue }
            names += ["x.\(host)", "y.x.\(host)"]
            if host.labels.count > 2 { names.append(host.labels.dropFirst().joined(separator: ".")) }
        }
        var seen: Set<String> = []
        return try names.filter { seen.insert($0).inserted }.map { try ServerName($0) }
    }
}

extension Array {
    func pick(_ numbers: inout SeededNumbers) -> Element { self[Int.random(in: indices, using: &numbers)] }
}
