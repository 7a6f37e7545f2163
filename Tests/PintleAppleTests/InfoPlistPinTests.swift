import Foundation
import Network
import Pintle
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// Pins of `NSPinnedDomains` in the app's Info.plist. The system checks them in each evaluation of its own, also in the
/// one that a pinned session asks for. Each refusal has a twin without the entry, or with the missing key in it.
@Suite("Apple: pins in the app's Info.plist")
struct InfoPlistPinTests {
    private let root: CertificateAuthority
    /// Names below `localhost` lead to this machine. Each test has its own, because all share one Info.plist.
    private let host: String

    init() throws {
        root = try .root()
        host = "\(UUID().uuidString.lowercased()).localhost"
        StandIn.addSystemAnchor(root.certificate.der)
    }

    private func rule(_ key: PrivateKey, _ change: (inout PinnedHost) -> Void = { _ in }) throws -> PinningPolicy {
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key.spkiDER)))
        var rule = try PinnedHost(host, pins: [pin], backup: .noneAccepted)
        change(&rule)
        return try PinningPolicy(hosts: [rule])
    }

    /// Adds an entry to the Info.plist with the keys of leaves.
    private func pin(_ keys: PrivateKey..., named name: String? = nil) throws {
        try Self.addEntry(name ?? host, ["NSPinnedLeafIdentities": try keys.map { try Self.identity($0.spkiDER) }])
    }

    private static func identity(_ spki: [UInt8]) throws -> [String: String] {
        let pin = try PublicKeyPin(subjectPublicKeyInfo: spki).description
        return ["SPKI-SHA256-BASE64": String(pin.dropFirst("sha256/".count))]
    }

    private static func addEntry(_ name: String, _ entry: Any) throws {
        let file: [String: Any] = ["NSAppTransportSecurity": ["NSPinnedDomains": [name: entry]]]
        try StandIn.addInfoPlist(
            try PropertyListSerialization.data(fromPropertyList: file, format: .xml, options: 0))
    }

    /// Loads a page with a session of either kind. Returns the reason with the path failure, or the status.
    private func result(_ identity: Identity, _ policy: some PolicySource, isPlain: Bool) async throws -> String {
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let url = try server.address(host: host)
        let plain: URLSession = .pinned(to: policy)
        let session = URLSession.pinned(to: policy)
        do {
            let response = try await isPlain ? plain.data(from: url).1 : session.data(from: url).1
            return "\((response as? HTTPURLResponse)?.statusCode ?? 0)"
        } catch {
            #expect(server.requestByteCount == 0)
            let explained = isPlain ? plain.explain(error) : error
            guard let rejection = TrustRejection(underlying: explained) else { return "\(explained)" }
            guard let failure = rejection.pathFailure else { return rejection.reason }
            // The reader learns which file it is about, and what to do.
            #expect(failure.primary.text.contains("NSPinnedDomains in the app's Info.plist"))
            #expect(failure.primary.platformCode == Int(errSSLATSCertificateTrustViolation))
            return "\(rejection.reason) \(failure.code.rawValue)"
        }
    }

    private static let refused = "invalid-path other"

    @Test(
        "The system refuses an interceptor before the policy's pins are compared",
        arguments: [true, false], [true, false])
    func interceptor(isPlain: Bool, isInFile: Bool) async throws {
        let genuine = try root.issue(hosts: [host])
        let interceptor = try root.issue(hosts: [host])
        if isInFile { try pin(genuine.key) }
        let policy = try rule(genuine.key)
        #expect(try await result(interceptor, policy, isPlain: isPlain) == (isInFile ? Self.refused : "pin-mismatch"))
        #expect(try await result(genuine, policy, isPlain: isPlain) == "200")
    }

    @Test("A rule that only reports does not let a path through that the file refuses", arguments: [true, false])
    func reportOnly(isInFile: Bool) async throws {
        let server = try root.issue(hosts: [host])
        let pinned = try PrivateKey()
        if isInFile { try pin(pinned) }
        let policy = try rule(pinned) { $0.enforcement = .reportOnly }
        for isPlain in [true, false] {
            #expect(try await result(server, policy, isPlain: isPlain) == (isInFile ? Self.refused : "200"))
        }
    }

    @Test("Pins that have expired in the policy still count in the file", arguments: [true, false])
    func expired(isInFile: Bool) async throws {
        let server = try root.issue(hosts: [host])
        let pinned = try PrivateKey()
        if isInFile { try pin(pinned) }
        let policy = try rule(pinned) { $0.expiry = .systemTrust(after: Date(timeIntervalSinceNow: -60)) }
        for isPlain in [true, false] {
            #expect(try await result(server, policy, isPlain: isPlain) == (isInFile ? Self.refused : "200"))
        }
    }

    @Test("A key that only an update brings is refused until the file has it too", arguments: [nil, false, true])
    func rotation(hasNewKey: Bool?) async throws {
        let (old, new) = (try root.issue(hosts: [host]), try root.issue(hosts: [host]))
        switch hasNewKey {
        case true: try pin(old.key, new.key)
        case false: try pin(old.key)
        default: break
        }
        for isPlain in [true, false] {
            let policy = LivePolicy(try rule(old.key))
            #expect(try await result(old, policy, isPlain: isPlain) == "200")
            policy.replace(with: try rule(new.key))
            let expected = hasNewKey == false ? Self.refused : "200"
            #expect(try await result(new, policy, isPlain: isPlain) == expected)
        }
    }

    @Test("The verify block of Network.framework is refused too", arguments: [true, false])
    func network(hasKey: Bool) throws {
        let server = try root.issue(hosts: [host])
        try pin(hasKey ? server.key : try PrivateKey())
        let options = NWProtocolTLS.Options()
        options.decideTrust(
            of: ServerEndpoint(host: try ServerName(host)),
            by: LivePolicy(try rule(server.key)))
        let challenge = try SessionFixture.challenge(server.chain, host: host)
        let trust = try #require(challenge.protectionSpace.serverTrust)
        #expect(options.securityProtocolOptions.verify(trust) == hasKey)
    }

    // MARK: Which entries count

    /// Returns the verdict of a policy with the server's pin about a path with an intermediate.
    private func verdict(_ host: String, _ identity: Identity) throws -> String {
        let policy = try PinningPolicy(hosts: [PinnedHost(host, pins: [Pin](), anchors: .system)])
        let challenge = try SessionFixture.challenge(identity.chain, host: host)
        guard let failure = ServerTrustEvaluator(policy: policy).evaluate(challenge).rejection?.pathFailure else {
            return "trusted"
        }
        #expect(failure.primary.platformCode == Int(errSSLATSCertificateTrustViolation))
        return failure.code.rawValue
    }

    @Test(
        "An entry covers its own name, and one more label if it says so",
        arguments: [
            (["one"], true, false), (["one"], false, true), (["two", "one"], true, true), ([String](), false, false),
        ])
    func coverage(labels: [String], includesSubdomains: Bool, isTrusted: Bool) throws {
        let name = (labels + [host]).joined(separator: ".")
        let server = try root.issue(hosts: [name])
        try Self.addEntry(
            host,
            [
                "NSIncludesSubdomains": includesSubdomains,
                "NSPinnedLeafIdentities": [try Self.identity(try PrivateKey().spkiDER)],
            ] as [String: Any])
        #expect(try verdict(name, server) == (isTrusted ? "trusted" : "other"))
    }

    @Test("The lists of all entries that cover a host are added up", arguments: [true, false])
    func sum(isInParent: Bool) throws {
        let name = "api.\(host)"
        let server = try root.issue(hosts: [name])
        let keys = [try PrivateKey(), isInParent ? server.key : try PrivateKey()]
        try pin(keys[0], named: name.uppercased())
        try Self.addEntry(
            host,
            [
                "NSIncludesSubdomains": true, "NSPinnedLeafIdentities": [try Self.identity(keys[1].spkiDER)],
            ] as [String: Any])
        #expect(try verdict(name, server) == (isInParent ? "trusted" : "other"))
    }

    @Test("Both lists must match, the one by the leaf and the other by a certificate above", arguments: 0..<4)
    func bothLists(matching: Int) throws {
        let issuer = try root.intermediate()
        let server = try issuer.issue(hosts: [host])
        let stranger = try PrivateKey().spkiDER
        try Self.addEntry(
            host,
            [
                "NSPinnedLeafIdentities": [try Self.identity(matching & 1 == 1 ? server.key.spkiDER : stranger)],
                "NSPinnedCAIdentities": [try Self.identity(matching & 2 == 2 ? issuer.key.spkiDER : stranger)],
            ])
        #expect(try verdict(host, server) == (matching == 3 ? "trusted" : "other"))
    }

    @Test("An empty list, or one without a digest that can be read, refuses every server", arguments: 0..<6)
    func empty(shape: Int) throws {
        let server = try root.issue(hosts: [host])
        let own = try Self.identity(server.key.spkiDER)
        let lists: [Any] = [
            [Any](), "a string", [own["SPKI-SHA256-BASE64", default: ""]], [["SPKI-SHA256-BASE64": "%"]],
            [["SPKI-SHA1-BASE64": "AAAA"]], [own],
        ]
        try Self.addEntry(host, ["NSPinnedLeafIdentities": lists[shape]])
        #expect(try verdict(host, server) == (shape == 5 ? "trusted" : "other"))
    }

    @Test(
        "A user's approval overrules the file only if the system finds a flaw of form first",
        arguments: [true, false], [true, false])
    func approval(isInFile: Bool, hasFlawOfForm: Bool) throws {
        let identity =
            hasFlawOfForm
            ? try Identity.byHand(hosts: [host])
            : try Identity.selfSigned(hosts: [host]) { $0.extendedKeyUsage = [.serverAuth] }
        let isRefused = isInFile && !hasFlawOfForm
        if isInFile { try pin(try PrivateKey()) }
        let endpoint = ServerEndpoint(host: try ServerName(host))
        var approvals = TrustApprovals()
        let leaf = try Certificate(der: identity.certificate.der)
        _ = try approvals.approve(try TrustApproval(.certificate(leaf.fingerprint), for: endpoint, at: Date()))
        let approved = approvals
        let answer = ServerTrustEvaluator(policy: try .asking, approvals: { approved })
            .evaluate(try SessionFixture.challenge(identity.chain, host: host))
        #expect(answer.disposition == (isRefused ? .cancelAuthenticationChallenge : .useCredential))
        #expect(answer.rejection?.pathFailure?.primary.platformCode == (isRefused ? -9886 : nil))
    }
}
