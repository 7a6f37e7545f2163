import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL

/// Step 3 of the decision inside handshakes: self-signed and private servers on loopback.
@Suite("A person's decision in the handshake")
struct ApprovalHandshakeTests {
    /// What a client of a policy that asks says about one server.
    private struct Scene {
        let server: LoopbackTLSServer
        let host: String
        var approvals = TrustApprovals.none
        var system: [MintedCertificate] = []

        init(_ identity: Identity, host: String = "localhost") throws {
            server = try LoopbackTLSServer(TLSServerConfiguration(.init(identity)))
            self.host = host
        }

        var endpoint: ServerEndpoint {
            get throws { ServerEndpoint(host: try ServerName(host), port: server.port) }
        }

        func connect() throws -> TrustEvaluation {
            let anchors = try system.map { try Certificate(der: $0.der) }
            let target = HandshakeTarget(
                try endpoint, connectTo: try ServerEndpoint(host: "127.0.0.1", port: server.port))
            return try TLSClient().connect(
                to: target, checking: try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: approvals,
                validator: PathValidator(system: SystemAnchors(replacedBy: anchors))
            ).evaluation
        }

        func verdict() throws -> String { try connect().decision.summary }

        func ask() throws -> UnknownHost {
            let decision = try connect().decision
            guard case .rejected(.unknownHost(let host)) = decision else { throw Surprise(decision: decision) }
            return host
        }

        /// What somebody approves who has the fingerprint or the key from elsewhere.
        func approving(
            _ certificate: MintedCertificate, byKey: Bool = false,
            accepting: Set<TrustApproval.AcceptedFailure> = TrustApproval.AcceptedFailure.missingAuthority
        ) throws -> Scene {
            let leaf = try Certificate(der: certificate.der)
            var scene = self
            scene.approvals = TrustApprovals([
                try TrustApproval(
                    byKey ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint), for: try endpoint,
                    accepting: accepting, at: Date())
            ])
            return scene
        }
    }

    private struct Surprise: Error {
        let decision: TrustDecision
    }

    private static func renewed(
        _ identity: Identity, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> Identity {
        var template = identity.certificate.template
        template.serialNumber = CertificateTemplate.randomSerialNumber()
        configure(&template)
        return Identity(certificate: try template.selfSigned(with: identity.key), key: identity.key)
    }

    @Test("Refused, asked, approved, trusted: and no byte of a request before", arguments: UnknownHost.Subject.allCases)
    func loop(subject: UnknownHost.Subject) throws {
        let identity = try Identity.selfSigned()
        var scene = try Scene(identity)
        let host = try scene.ask()
        #expect(scene.server.waitUntilClosed())
        #expect(scene.server.requestByteCount == 0)
        #expect(scene.server.alertsReceived.map(\.name).contains("unknown_ca"))
        #expect(host.leaf.der == identity.certificate.der)
        #expect(host.pathFailure?.code == .selfSigned && host.unacceptableFailure == nil)

        try scene.approvals.approve(host.approval(of: subject, at: Date()))
        let evaluation = try scene.connect()
        guard case .trusted(.userApproved(let approval)) = evaluation.decision else {
            Issue.record("\(evaluation.decision)")
            return
        }
        #expect(approval.accepts == [.selfSigned])
        #expect(evaluation.path?.certificates == [identity.certificate.der])
        scene.approvals.revoke(try scene.endpoint, at: Date())
        #expect(try scene.verdict() == "unknown-host self-signed")
    }

    @Test("Another certificate is an alarm, also one that the system trusts")
    func changed() throws {
        let approved = try Identity.selfSigned()
        #expect(try Scene(approved).approving(approved.certificate).verdict() == "user-approved")
        let stranger = try Scene(Identity.selfSigned()).approving(approved.certificate)
        #expect(try stranger.verdict() == "pin-mismatch")
        #expect(stranger.server.waitUntilClosed())
        #expect(stranger.server.alertsReceived.map(\.name).contains("certificate_unknown"))
        let root = try CertificateAuthority.root()
        var trusted = try Scene(root.issue()).approving(approved.certificate)
        trusted.system = [root.certificate]
        #expect(try trusted.verdict() == "pin-mismatch")
    }

    @Test("A server that the system trusts is asked about too, and no interceptor that it trusts takes its place")
    func systemTrusted() throws {
        let (root, other) = (try CertificateAuthority.root(), try CertificateAuthority.root(name: "Interceptor"))
        let identity = try root.issue()
        var scene = try Scene(identity)
        scene.system = [root.certificate, other.certificate]
        let host = try scene.ask()
        #expect(host.pathFailure == nil)
        let approval = try host.approval(at: Date())
        scene.approvals = TrustApprovals([approval])
        #expect(try scene.verdict() == "user-approved")
        // Later the system does not trust it any more, which nobody has accepted.
        scene.system = [other.certificate]
        #expect(try scene.verdict() == "invalid-path untrusted-root")

        var interceptor = try Scene(other.issue()).approving(identity.certificate)
        interceptor.system = [root.certificate, other.certificate]
        #expect(try interceptor.verdict() == "pin-mismatch")
    }

    @Test("An expired certificate that signs itself is told with both, cannot be approved, and is refused if it is")
    func expired() throws {
        let identity = try Identity.selfSigned { $0.notAfter = .fromNow(days: -1) }
        let scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.pathFailure?.code == .selfSigned)
        #expect(host.pathFailure?.detail.map(\.code).contains(.expired) == true)
        #expect(host.unacceptableFailure?.code == .expired)
        #expect(throws: TrustApprovalError.self) { try host.approval(at: Date()) }

        for byKey in [false, true] {
            let evaluation = try scene.approving(identity.certificate, byKey: byKey).connect()
            guard case .rejected(.invalidPath(let failure)) = evaluation.decision else {
                Issue.record("\(evaluation.decision)")
                continue
            }
            #expect(failure.code == .expired && failure.detail.map(\.code) == [.selfSigned])
        }
        let valid = try Self.renewed(identity) { $0.notAfter = .fromNow(days: 1) }
        #expect(try Scene(valid).approving(identity.certificate, byKey: true).verdict() == "user-approved")
    }

    @Test(
        "A device with another name or a past date is approved for exactly what was shown",
        arguments: [[TrustApproval.AcceptedFailure.nameMismatch], [.expired], [.nameMismatch, .expired]])
    func exceptions(_ failures: [TrustApproval.AcceptedFailure]) throws {
        let failures = Set(failures)
        let identity = try Identity.selfSigned(hosts: [failures.contains(.nameMismatch) ? "router" : "localhost"]) {
            if failures.contains(.expired) { $0.notAfter = .fromNow(days: -1) }
        }
        var scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.exceptionsOfCertificate == failures)
        // Neither old callers nor keys accept what nobody has shown.
        #expect(throws: TrustApprovalError.self) { try host.approval(at: Date()) }
        #expect(throws: TrustApprovalError.self) { try host.approval(of: .key, alsoAccepting: failures, at: Date()) }
        let first = try #require(failures.first)
        let leaf = try Certificate(der: identity.certificate.der)
        #expect(throws: TrustApprovalError.needsCertificate([first])) {
            try TrustApproval(.publicKey(leaf.publicKeyPin), for: scene.endpoint, accepting: [first], at: Date())
        }
        #expect(try scene.approving(identity.certificate).verdict().hasPrefix("invalid-path "))
        if failures.count > 1 {
            let one: Set<TrustApproval.AcceptedFailure> = [.selfSigned, first]
            #expect(try scene.approving(identity.certificate, accepting: one).verdict().hasPrefix("invalid-path "))
        }

        let approval = try host.approval(alsoAccepting: host.exceptionsOfCertificate, at: Date())
        #expect(approval.accepts == failures.union([.selfSigned]))
        try scene.approvals.approve(approval)
        #expect(try scene.verdict() == "user-approved")
        let stored = try TrustApprovals(json: scene.approvals.json())
        #expect(stored.all == [approval])
        // Another certificate with the same key, and the same server once the approval is revoked.
        var other = try Scene(Self.renewed(identity))
        other.approvals = TrustApprovals([
            try TrustApproval(approval.subject, for: other.endpoint, accepting: approval.accepts, at: Date())
        ])
        #expect(try other.verdict() == "pin-mismatch")
        scene.approvals.revoke(try scene.endpoint, at: Date())
        #expect(try scene.verdict() == "unknown-host self-signed")
    }

    @Test("Only the server's own certificate can have expired and be approved", arguments: [true, false])
    func expiredAuthority(isLeafOver: Bool) throws {
        let root = try CertificateAuthority.root()
        let authority = try root.intermediate { $0.notAfter = .fromNow(days: -1) }
        let identity = try authority.issue { if isLeafOver { $0.notAfter = .fromNow(days: -1) } }
        var scene = try Scene(identity)
        scene.system = [root.certificate]
        let host = try scene.ask()
        #expect(host.exceptionsOfCertificate == (isLeafOver ? [.expired] : []))
        #expect(host.unacceptableFailure?.code == .expired)
        // The approval accepts an expired leaf. It does not cover the date of the authority.
        let accepted: Set<TrustApproval.AcceptedFailure> = [.selfSigned, .untrustedRoot, .expired]
        var approving = try scene.approving(identity.certificate, accepting: accepted)
        approving.system = scene.system
        #expect(try approving.verdict() == (isLeafOver ? "user-approved" : "invalid-path expired"))
    }

    @Test("A weak key stays refused beside another name, whatever an approval accepts")
    func exceptionsEndThere() throws {
        let identity = try Identity.selfSigned(hosts: ["router"], keyType: .rsa(bits: 1_024))
        let scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.exceptionsOfCertificate.isEmpty)
        let all = Set(TrustApproval.AcceptedFailure.ordered)
        #expect(throws: TrustApprovalError.self) { try host.approval(alsoAccepting: all, at: Date()) }
        #expect(try scene.approving(identity.certificate, accepting: all).verdict() == "invalid-path weak-key")
    }

    @Test("An approved key is good in the next certificate, if that is for the host and in its time")
    func renewal() throws {
        let identity = try Identity.selfSigned()
        let renewed = try Self.renewed(identity)
        #expect(try Scene(renewed).approving(identity.certificate, byKey: true).verdict() == "user-approved")
        #expect(try Scene(renewed).approving(identity.certificate).verdict() == "pin-mismatch")
        let foreign = try Self.renewed(identity) { $0.subjectAltNames = [.host("other.example.test")] }
        let early = try Self.renewed(identity) { $0.notBefore = .fromNow(days: 1) }
        for byKey in [true, false] {
            let approved = try Scene(foreign).approving(foreign.certificate, byKey: byKey)
            #expect(try approved.verdict() == "invalid-path name-mismatch")
            #expect(
                try Scene(early).approving(early.certificate, byKey: byKey).verdict() == "invalid-path not-yet-valid")
        }
        let elsewhere = try Scene(foreign, host: "other.example.test")
        #expect(try elsewhere.approving(foreign.certificate).verdict() == "user-approved")
    }

    @Test("Of the two failures only the one that was seen is forgiven")
    func unseen() throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue()
        let scene = try Scene(identity)
        #expect(try scene.ask().pathFailure?.code == .untrustedRoot)
        #expect(try scene.approving(identity.certificate, accepting: [.untrustedRoot]).verdict() == "user-approved")
        #expect(
            try scene.approving(identity.certificate, accepting: [.selfSigned]).verdict()
                == "invalid-path untrusted-root")
        let own = try Self.renewed(identity) { $0.issuer = nil }
        let selfSigned = try Scene(own)
        #expect(
            try selfSigned.approving(own.certificate, byKey: true, accepting: [.selfSigned]).verdict()
                == "user-approved")
        #expect(
            try selfSigned.approving(own.certificate, byKey: true, accepting: [.untrustedRoot]).verdict()
                == "invalid-path self-signed")
    }

    @Test("A certificate for signing programs is no server's, approved or not; its twin for servers is")
    func purpose() throws {
        for (purposes, isGood) in [([DERWriter.OID.codeSigning], false), ([.codeSigning, .serverAuth], true)] {
            let identity = try Identity.selfSigned { $0.extendedKeyUsage = purposes }
            let scene = try Scene(identity)
            #expect(try scene.ask().unacceptableFailure?.code == (isGood ? nil : .unsuitablePurpose))
            for byKey in [true, false] {
                let verdict = try scene.approving(identity.certificate, byKey: byKey).verdict()
                #expect(verdict == (isGood ? "user-approved" : "invalid-path unsuitable-purpose"))
            }
            // The same under an authority that nobody knows.
            let root = try CertificateAuthority.root()
            let issued = try root.issue { $0.extendedKeyUsage = purposes }
            let below = try Scene(issued).approving(issued.certificate)
            #expect(try below.verdict() == (isGood ? "user-approved" : "invalid-path unsuitable-purpose"))
        }
    }

    @Test("A key that is too weak, a bad signature and rubbish are not forgiven")
    func weak() throws {
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let endpoint = try ServerEndpoint(host: "localhost", port: 443)
        func verdict(_ certificate: MintedCertificate) throws -> String {
            let leaf = try Certificate(der: certificate.der)
            let approval = try TrustApproval(.certificate(leaf.fingerprint), for: endpoint, at: Date())
            return policy.evaluate(
                endpoint, presented: [certificate.der], approvals: TrustApprovals([approval]), at: Date(),
                validate: PathValidator(system: SystemAnchors(replacedBy: [])).validate
            ).decision.summary
        }
        #expect(try verdict(Identity.selfSigned(keyType: .rsa(bits: 2_048)).certificate) == "user-approved")
        let weak = try verdict(Identity.selfSigned(keyType: .rsa(bits: 1_024)).certificate)
        #expect(weak == "invalid-path weak-key")
        // Nobody vouches for it either, which is more fundamental.
        for bits in [1_024, 2_048] {
            let weak = try Identity.selfSigned(keyType: .rsa(bits: bits)).certificate
            let decision = policy.evaluate(
                endpoint, presented: [weak.der], at: Date(),
                validate: PathValidator(system: SystemAnchors(replacedBy: [])).validate
            ).decision
            guard case .rejected(.unknownHost(let host)) = decision else { throw Surprise(decision: decision) }
            #expect(host.pathFailure?.code == .selfSigned)
            #expect(host.pathFailure?.detail.map(\.code).contains(.weakKey) == (bits < 2_048))
            #expect(host.unacceptableFailure?.code == (bits < 2_048 ? .weakKey : nil))
        }
        let authority = try CertificateAuthority.root()
        let issued = try authority.issue(keyType: .rsa(bits: 1_024))
        let validator = PathValidator(system: SystemAnchors(replacedBy: []))
        let failure = policy.evaluate(endpoint, presented: issued.chain, at: Date()) { validator.validate($0) }.decision
        #expect(failure.summary == "unknown-host untrusted-root")
        let forged = try Identity.selfSigned { template in
            template.editSignature = { $0.dropLast() + [$0.last.map { $0 ^ 1 } ?? 0] }
        }
        #expect(try verdict(forged.certificate) == "invalid-path invalid-signature")
    }
}
