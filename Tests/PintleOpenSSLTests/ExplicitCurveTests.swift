import COpenSSL
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

/// EC keys with explicit parameters. OpenSSL decodes them while it parses a certificate, which can take half a second
/// each.
@Suite("Explicit EC parameters", .serialized)
struct ExplicitCurveTests {
    private let root: CertificateAuthority
    private let identity: Identity

    init() throws {
        root = try .root()
        identity = try root.intermediate().issue(hosts: [Validation.host])
    }

    /// Returns 128 certificates with this key and distinct names.
    private func certificates(key: [UInt8]?) throws -> [[UInt8]] {
        let template = try root.issue(hosts: [Validation.host]).certificate.template
        let signer = try PrivateKey()
        return try (0..<128).map { number in
            var template = template
            template.subject = .commonName("Key \(number)")
            template.subjectPublicKeyInfo = key
            return try template.minted(for: signer, by: root).der
        }
    }

    @Test(
        "OpenSSL parses no such key in a recorded chain of 128",
        arguments: [ExplicitCurve.ecPublicKey, ExplicitCurve.sm2])
    func recorded(algorithm: DERWriter.OID) throws {
        let attack = try certificates(key: ExplicitCurve.slow(algorithm: algorithm))
        let control = try certificates(key: nil)
        // None of the certificates reaches OpenSSL, while all control certificates do.
        #expect(attack.count { X509Reference(der: $0) != nil } == 0)
        #expect(control.count { X509Reference(der: $0) != nil } == 128)
        var evaluation: TrustEvaluation?
        let usual = try ProcessorTime.measure { _ = try Validation.decide(control, anchors: [root.certificate]) }
        let time = try ProcessorTime.measure {
            evaluation = try Validation.evaluate(attack, anchors: [root.certificate])
        }
        print("128 keys with explicit parameters: \(time) s; with named curves: \(usual) s")
        #expect(evaluation?.decision.summary == "invalid-path malformed-certificate")
        #expect(evaluation?.presented == nil)

        let mixed = identity.chain + attack.dropLast(2)
        let above = try Validation.evaluate(mixed, anchors: [root.certificate])
        #expect(above.decision.summary == "host-not-pinned")
        #expect(above.presented?.unreadableCount == 126)
        #expect(above.presented?.certificates.count == 2)
    }

    @Test("OpenSSL decodes no such key of 128 that a server presents, even with a good leaf")
    func live() throws {
        let attack = try certificates(key: ExplicitCurve.slow())
        let control = try certificates(key: nil)
        var judged: [[UInt8]]?
        /// The number of keys that OpenSSL has decoded while it parsed the message.
        var decoded = 0
        func connect(_ chain: [[UInt8]], _ code: HandshakeError.Code) throws -> Double {
            let peer = try FakeTLS.server(FakeTLS.certificateMessage(chain))
            (judged, decoded) = (nil, 0)
            return ProcessorTime.measure {
                let error = expectFailure(code) {
                    try TLSClient().connect(to: HandshakeTarget(host: "127.0.0.1", port: peer.port)) { chain in
                        judged = chain.certificates
                        decoded = X509Stack.references(in: chain.presented).count {
                            X509_get0_pubkey($0.pointer) != nil
                        }
                        return .reject(.badCertificate)
                    }
                }
                #expect(error?.isBeforeCertificate == false)
            }
        }
        let usual = try connect(control, .rejectedByVerifier)
        #expect(decoded == 128)
        let leaf = try connect(attack, .malformedCertificate)
        #expect(judged == nil)
        let mixed = [identity.certificate.der] + attack.dropLast()
        let above = try connect(mixed, .rejectedByVerifier)
        // The core gets the bytes that the server sent, not those that OpenSSL parsed.
        #expect(judged == mixed)
        #expect(decoded == 1)
        // OpenSSL parses the certificates before the first malformed byte. None of their keys may be left to decode.
        let message = FakeTLS.message(11, FakeTLS.sized(attack.flatMap(FakeTLS.sized) + [0, 0, 9, 0]))
        for bytes in [FakeTLS.certificateMessage(attack), FakeTLS.certificateMessage(mixed), message] {
            #expect(Self.explicitKeys(in: bytes) >= 127)
            var inspected = bytes
            let action = inspected.withUnsafeMutableBytes {
                CertificateMessageGuard.inspect(UnsafeRawBufferPointer($0), 22, 0x0303)
            }
            #expect(action != nil)
            #expect(Self.explicitKeys(in: inspected) == 0)
        }
        let peer = try FakeTLS.server(message)
        let cut = ProcessorTime.measure {
            _ = expectFailure(.malformedCertificate) {
                try TLSClient().connect(to: HandshakeTarget(host: "127.0.0.1", port: peer.port)) { _ in .accept }
            }
        }
        print("live, 128 keys: \(leaf) s, below a good leaf \(above) s, cut off \(cut) s; named curves \(usual) s")
    }

    /// Returns the number of certificates in a Certificate message (RFC 5246 section 7.4.2) whose explicit parameters
    /// OpenSSL would decode.
    private static func explicitKeys(in message: [UInt8]) -> Int {
        func length(at place: Int) -> Int { message[place..<place + 3].reduce(0) { $0 << 8 + Int($1) } }
        // OpenSSL parses no certificate of a list that claims to be longer than the message.
        guard message.count > 7, length(at: 4) == message.count - 7 else { return 0 }
        var (place, count) = (7, 0)
        while place + 3 <= message.count, place + 3 + length(at: place) <= message.count {
            let end = place + 3 + length(at: place)
            if case .unnamedCurve = KeyAlgorithm(ofCertificate: Array(message[place + 3..<end])) { count += 1 }
            place = end
        }
        return count
    }

    @Test("A handshake refuses such a key in the leaf and drops it above the leaf", arguments: [false, true])
    func handshake(isTLS13: Bool) throws {
        let extra = try certificates(key: SubjectPublicKeyInfo.explicitP256(try PrivateKey())).prefix(2)
        let anchors = [try Certificate(der: root.certificate.der)]
        let validator = PathValidator(system: SystemAnchors(replacedBy: anchors))
        func decide(_ chain: [[UInt8]]) throws -> TrustEvaluation {
            var configuration = TLSServerConfiguration(.init(chain: chain, key: identity.key))
            configuration.versions = isTLS13 ? .tls13 ... .tls13 : .tls12 ... .tls12
            let server = try LoopbackTLSServer(configuration)
            let machine = try ServerEndpoint(host: "127.0.0.1", port: server.port)
            return try TLSClient().connect(
                to: HandshakeTarget(host: Validation.host, connectTo: machine), checking: try PinningPolicy(hosts: []),
                validator: validator
            ).evaluation
        }
        let chain = identity.chain
        let evaluation = try decide([chain[0], extra[0], chain[1], extra[1]])
        #expect(evaluation.decision.summary == "host-not-pinned")
        #expect(evaluation.path?.certificates == identity.chainWithRoot)
        let key = SubjectPublicKeyInfo.explicitP256(identity.key)
        let leaf = try root.issue(hosts: [Validation.host], key: identity.key) { $0.subjectPublicKeyInfo = key }
        #expect(try decide(leaf.chain).decision.summary == "invalid-path malformed-certificate")
        #expect(try decide(chain).decision.summary == "host-not-pinned")
    }

    @Test("An anchor with such a key is an error that names it, and its key is not decoded")
    func anchor() throws {
        let odd = try CertificateAuthority.root(name: "Odd") { $0.subjectPublicKeyInfo = ExplicitCurve.slow() }
        let evaluation = try Validation.evaluate(identity.chain, anchors: [root.certificate, odd.certificate])
        #expect(evaluation.decision.summary == "invalid-path other")
        guard case .rejected(.invalidPath(let failure)) = evaluation.decision else { return }
        #expect(failure.primary.text == "the anchor CN=Odd has an EC key whose curve is not named")
    }

    @Test("The guard keeps the original bytes of a hidden certificate and leaves the rest of the message unchanged")
    func hidden() throws {
        let odd = try certificates(key: ExplicitCurve.slow())[0]
        let chain = [identity.certificate.der, odd, root.certificate.der]
        var message = FakeTLS.certificateMessage(chain)
        let before = message
        let action = message.withUnsafeMutableBytes {
            CertificateMessageGuard.inspect(UnsafeRawBufferPointer($0), 22, 0x0303)
        }
        guard case .hidden(let certificates) = action else {
            Issue.record("not hidden")
            return
        }
        #expect(certificates == [1: odd])
        let changed = zip(before, message).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        #expect(changed.count == 1)
        // The guard does not change a message twice.
        let again = message.withUnsafeMutableBytes {
            CertificateMessageGuard.inspect(UnsafeRawBufferPointer($0), 22, 0x0303)
        }
        #expect(again == nil)
    }
}
