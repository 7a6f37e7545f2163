import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

/// Paths, pins and live servers with keys of ML-DSA (FIPS 204).
@Suite(
    "Servers with ML-DSA",
    .enabled(if: KeyType.mlDSA44.isAvailable, "skipped: ML-DSA needs OpenSSL 3.5, as in make modern"))
struct MLDSAPathTests {
    /// The kinds of the root, the intermediate authority and the leaf.
    struct Keys: Sendable, CustomTestStringConvertible {
        let root: KeyType
        let intermediate: KeyType
        let leaf: KeyType

        var testDescription: String { "\(root.kind), \(intermediate.kind), \(leaf.kind)" }
    }

    static let keys = [
        Keys(root: .mlDSA65, intermediate: .mlDSA65, leaf: .mlDSA44),
        Keys(root: .mlDSA87, intermediate: .mlDSA65, leaf: .mlDSA87),
        // A classical authority issues the leaf of ML-DSA, and the other way round.
        Keys(root: .p256, intermediate: .rsa2048, leaf: .mlDSA65),
        Keys(root: .mlDSA87, intermediate: .mlDSA44, leaf: .p256),
    ]

    private func chain(_ keys: Keys) throws -> (PintleTestKit.CertificateAuthority, Identity) {
        let root = try CertificateAuthority.root(keyType: keys.root)
        let authority = try root.intermediate(keyType: keys.intermediate)
        return (root, try authority.issue(hosts: [Validation.host], keyType: keys.leaf))
    }

    @Test("A pin of any key on the path matches, and a pin of another key of the same kind does not", arguments: keys)
    func pins(_ keys: Keys) throws {
        let (root, identity) = try chain(keys)
        for (depth, der) in identity.chainWithRoot.enumerated() {
            let pin = Pin(.publicKey(try Certificate(der: der).publicKeyPin))
            let evaluation = try Validation.evaluate(
                identity.chain, anchors: [root.certificate], pins: [pin])
            #expect(evaluation.decision.summary == "pin-matched")
            #expect(evaluation.receiptBasis?.depth == depth)
        }
        let other = Pin(
            .publicKey(try PublicKeyPin(subjectPublicKeyInfo: PrivateKey(keys.leaf).spkiDER)))
        #expect(
            try Validation.decide(identity.chain, anchors: [root.certificate], pins: [other]).summary == "pin-mismatch")
    }

    @Test("A path of ML-DSA needs its root, valid signatures and dates, as every path does")
    func paths() throws {
        let (root, identity) = try chain(Self.keys[0])
        let pin = try Validation.pin(identity.certificate)
        func decide(_ chain: [[UInt8]], _ anchor: MintedCertificate) throws -> String {
            try Validation.decide(chain, anchors: [anchor], pins: [pin]).summary
        }
        #expect(try decide(identity.chain, root.certificate) == "pin-matched")
        let stranger = try CertificateAuthority.root(keyType: .mlDSA65)
        #expect(try decide(identity.chain, stranger.certificate) == "invalid-path untrusted-root")
        let authority = try root.intermediate(keyType: .mlDSA65)
        let damaged = try authority.issue(hosts: [Validation.host], key: identity.key) {
            $0.editSignature = { [$0[0] ^ 1] + $0.dropFirst() }
        }
        #expect(try decide(damaged.chain, root.certificate) == "invalid-path invalid-signature")
        let expired = try authority.issue(hosts: [Validation.host], key: identity.key) {
            $0.notAfter = .fromNow(seconds: -600)
        }
        #expect(try decide(expired.chain, root.certificate) == "invalid-path expired")
    }

    @Test("A damaged key of ML-DSA is malformed, and a key of an unknown kind is weak")
    func unreadableKeys() throws {
        let (root, identity) = try chain(Self.keys[0])
        for (arc, failure) in [(17, "malformed-certificate"), (99, "weak-key")] as [(UInt64, String)] {
            let leaf = try root.issue(hosts: [Validation.host]) {
                $0.subjectPublicKeyInfo = SubjectPublicKeyInfo.encode(
                    algorithm: [2, 16, 840, 1, 101, 3, 4, 3, arc], key: Array(identity.key.spkiDER.suffix(100)))
            }
            let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
            #expect(decision.summary == "invalid-path \(failure)", "\(decision)")
        }
    }

    @Test("A live server with ML-DSA is trusted with its pin and refused with another, over TLS 1.3", arguments: keys)
    func live(_ keys: Keys) throws {
        let (root, identity) = try chain(keys)
        let server = try LoopbackTLSServer(identity)
        func connect(_ pin: Pin) throws -> CheckedConnection {
            let policy = try PinningPolicy(
                hosts: [
                    PinnedHost(
                        Validation.host, pins: [pin], backup: .noneAccepted,
                        anchors: .only([Certificate(der: root.certificate.der)]))
                ])
            let target = try HandshakeTarget(
                host: Validation.host, connectTo: ServerEndpoint(host: "127.0.0.1", port: server.port))
            return try TLSClient().connect(to: target, checking: policy)
        }
        let right = try connect(Validation.pin(identity.certificate))
        #expect(right.evaluation.decision.summary == "pin-matched")
        guard case .trusted(let connection, _) = right else { return }
        #expect(connection.protocolVersion == .v1_3)
        #expect(connection.tls.keyExchangeGroup == "X25519MLKEM768")
        let wrong = try connect(Validation.pin(root.issue(hosts: [Validation.host], keyType: keys.leaf).certificate))
        #expect(wrong.evaluation.decision.summary == "pin-mismatch")
    }
}

extension TrustEvaluation {
    /// The pin that matched.
    fileprivate var receiptBasis: PinMatch? {
        if case .trusted(.pinMatched(let match)) = decision { match } else { nil }
    }
}
