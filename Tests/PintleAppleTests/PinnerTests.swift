import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// A pinner with the system's validation. Each refusal has a control that is accepted.
@Suite("Apple: a pinner")
struct PinnerTests {
    private let root: CertificateAuthority
    private let identity: Identity
    private let pin: String
    private let spare: String

    init() throws {
        root = try .root()
        identity = try root.issue(hosts: ["localhost"])
        StandIn.addSystemAnchor(root.certificate.der)
        pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description
        spare = try PublicKeyPin(subjectPublicKeyInfo: PrivateKey().spkiDER).description
    }

    private func trust(_ chain: [[UInt8]], host: String = "localhost") throws -> SecTrust {
        try #require(try SessionFixture.challenge(chain, host: host).protectionSpace.serverTrust)
    }

    private func reason(_ pinner: PublicKeyPinner, _ chain: [[UInt8]], host: String = "localhost") throws -> String {
        let decision = try pinner.validate(try trust(chain, host: host), host: host)
        let presented = try pinner.validate(chain, host: host, at: Date())
        #expect(decision.reason == presented.reason)
        guard case .rejected(let rejection) = decision, let failure = rejection.pathFailure else {
            return decision.reason
        }
        return "\(decision.reason) \(failure.code.rawValue)"
    }

    @Test("A pinned key on a valid path is trusted; another key, and the pinned key on an invalid path, are not")
    func decisions() throws {
        let pinner = try PublicKeyPinner(pins: [pin], backupPins: [spare])
        #expect(try reason(pinner, identity.chain) == "pin-matched")
        let other = try root.issue(hosts: ["localhost"])
        #expect(try reason(pinner, other.chain) == "pin-mismatch")
        let foreign = try CertificateAuthority.root(name: "Foreign").issue(key: identity.key)
        #expect(try reason(pinner, foreign.chain) == "invalid-path untrusted-root")
        #expect(try reason(pinner, identity.chain, host: "other.test") == "invalid-path name-mismatch")
    }

    /// ```
    ///  sent:  leaf (interceptor's)   genuine leaf (pinned)   genuine root
    ///            |
    ///         interceptor's root, which the device trusts
    /// ```
    @Test("A pinned certificate that an interceptor sends along does not count; the genuine chain is trusted")
    func appended() throws {
        let interceptor = try CertificateAuthority.root(name: "Interceptor")
        StandIn.addSystemAnchor(interceptor.certificate.der)
        let forged = try interceptor.issue(hosts: ["localhost"])
        let pinner = try PublicKeyPinner(pins: [pin], backupPins: [spare])
        #expect(try reason(pinner, forged.chain + identity.chainWithRoot) == "pin-mismatch")
        #expect(try reason(pinner, identity.chain + forged.chainWithRoot) == "pin-matched")
    }

    @Test("Private anchors replace the system's, and the caller's date decides")
    func anchors() throws {
        let ours = try CertificateAuthority.root(name: "Ours")
        let server = try ours.issue(hosts: ["localhost"])
        let key = try PublicKeyPin(subjectPublicKeyInfo: server.certificate.spkiDER).description
        let anchors = TrustAnchors.only([try Certificate(der: ours.certificate.der)])
        let restricted = try PublicKeyPinner(pins: [key, pin], backupPins: [spare], anchors: anchors)
        #expect(try reason(restricted, server.chain) == "pin-matched")
        #expect(try reason(restricted, identity.chain) == "invalid-path untrusted-root")
        let late = try restricted.validate(try trust(server.chain), host: "localhost", at: .distantFuture)
        #expect(late.reason == "invalid-path")
    }

    @Test("Missing pins and a missing backup are refused, and a host that cannot be read is an error")
    func mistakes() throws {
        #expect(throws: PolicyError.self) { try PublicKeyPinner(pins: []) }
        #expect(throws: PolicyError.self) { try PublicKeyPinner(pins: [pin]) }
        let pinner = try PublicKeyPinner(pins: [pin], backup: .noneAccepted)
        let trust = try trust(identity.chain)
        #expect(throws: ServerNameError.self) { try pinner.validate(trust, host: "no host") }
        #expect(try pinner.validate(trust, host: "localhost").reason == "pin-matched")
    }
}
