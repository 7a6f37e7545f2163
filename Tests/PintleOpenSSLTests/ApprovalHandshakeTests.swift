import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL
@testable import PintlePolicyFile
@testable import PintleTLSClient

/// Step 3 of the decision inside handshakes, with self-signed and private servers on loopback.
@Suite("The user's decision in the handshake")
struct ApprovalHandshakeTests {
    /// A server on loopback, and a client with a policy that asks the user.
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

        /// Returns the scene with an approval of a fingerprint or key that the user got elsewhere.
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

    @Test("An unknown server gets no request byte before its approval", arguments: UnknownHost.ApprovedPart.allCases)
    func loop(subject: UnknownHost.ApprovedPart) throws {
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

    @Test("A changed certificate is refused as a mismatch, even if the system trusts it")
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

    @Test("An approved server cannot be replaced by an interceptor that the system trusts")
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
        // The system no longer trusts the root, and the approval does not accept that.
        scene.system = [other.certificate]
        #expect(try scene.verdict() == "invalid-path untrusted-root")

        var interceptor = try Scene(other.issue()).approving(identity.certificate)
        interceptor.system = [root.certificate, other.certificate]
        #expect(try interceptor.verdict() == "pin-mismatch")
    }

    @Test("An approval of an expired self-signed certificate does not accept the expiry")
    func expired() throws {
        let identity = try Identity.selfSigned { $0.notAfter = .fromNow(days: -1) }
        let scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.pathFailure?.code == .selfSigned)
        #expect(host.pathFailure?.detail.map(\.code).contains(.expired) == true)
        #expect(host.unacceptableFailure?.code == .expired)
        #expect(throws: TrustApprovalError.unacceptable(try #require(host.unacceptableFailure))) {
            try host.approval(at: Date())
        }

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
        "An approval of another name or an expired date covers exactly the failures that were shown",
        arguments: [[TrustApproval.AcceptedFailure.nameMismatch], [.expired], [.nameMismatch, .expired]])
    func exceptions(_ failures: [TrustApproval.AcceptedFailure]) throws {
        let failures = Set(failures)
        let identity = try Identity.selfSigned(hosts: [failures.contains(.nameMismatch) ? "router" : "localhost"]) {
            if failures.contains(.expired) { $0.notAfter = .fromNow(days: -1) }
        }
        var scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.exceptionsOfCertificate == failures)
        // Without `alsoAccepting`, or for a key, an approval accepts no such failure.
        let unacceptable = TrustApprovalError.unacceptable(try #require(host.unacceptableFailure))
        #expect(throws: unacceptable) { try host.approval(at: Date()) }
        #expect(throws: unacceptable) { try host.approval(of: .key, alsoAccepting: failures, at: Date()) }
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
        // Another certificate with the same key is refused. So is the same server after the revocation.
        var other = try Scene(Self.renewed(identity))
        other.approvals = TrustApprovals([
            try TrustApproval(approval.subject, for: other.endpoint, accepting: approval.accepts, at: Date())
        ])
        #expect(try other.verdict() == "pin-mismatch")
        scene.approvals.revoke(try scene.endpoint, at: Date())
        #expect(try scene.verdict() == "unknown-host self-signed")
    }

    @Test("An approval may accept the expiry of the leaf but not of an authority", arguments: [true, false])
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

    @Test("No approval accepts a weak key")
    func exceptionsEndThere() throws {
        let identity = try Identity.selfSigned(hosts: ["router"], keyType: .rsa(bits: 1_024))
        let scene = try Scene(identity)
        let host = try scene.ask()
        #expect(host.exceptionsOfCertificate.isEmpty)
        let all = Set(TrustApproval.AcceptedFailure.ordered)
        #expect(host.unacceptableFailure?.code == .weakKey)
        #expect(throws: TrustApprovalError.unacceptable(try #require(host.unacceptableFailure))) {
            try host.approval(alsoAccepting: all, at: Date())
        }
        #expect(try scene.approving(identity.certificate, accepting: all).verdict() == "invalid-path weak-key")
    }

    @Test("An approved key is trusted in a renewed certificate if name and dates are valid")
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

    @Test("An approval accepts only the failure that was shown")
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

    @Test("A certificate only for code signing is refused for a server, even after approval")
    func purpose() throws {
        for (purposes, isGood) in [([DERWriter.OID.codeSigning], false), ([.codeSigning, .serverAuth], true)] {
            let identity = try Identity.selfSigned { $0.extendedKeyUsage = purposes }
            let scene = try Scene(identity)
            #expect(try scene.ask().unacceptableFailure?.code == (isGood ? nil : .unsuitablePurpose))
            for byKey in [true, false] {
                let verdict = try scene.approving(identity.certificate, byKey: byKey).verdict()
                #expect(verdict == (isGood ? "user-approved" : "invalid-path unsuitable-purpose"))
            }
            // The same below an unknown authority.
            let root = try CertificateAuthority.root()
            let issued = try root.issue { $0.extendedKeyUsage = purposes }
            let below = try Scene(issued).approving(issued.certificate)
            #expect(try below.verdict() == (isGood ? "user-approved" : "invalid-path unsuitable-purpose"))
        }
    }

    @Test("No approval accepts a weak key, an invalid signature or a malformed certificate")
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
        // The certificate is also untrusted, which is the more fundamental failure.
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
