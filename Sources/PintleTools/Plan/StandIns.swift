internal import Pintle
internal import PintleSystem
internal import PintleTestKit
internal import PintleUpdates

/// Certificates that stand in for those of a plan, so that the real pinning decision can judge them. That decision
/// compares pins with certificates, but a plan may know only the hash of an offline key.
///
/// Each planned key has a key pair as its stand-in. In a policy, pins of stand-ins replace the pins of planned keys.
/// All other pins stay and match nothing. So a pin matches a stand-in exactly if it matches the planned certificate.
struct StandIns {
    private(set) var plan: RotationPlan
    /// The chain for each certificate of the plan: DER, leaf first, the anchor last.
    private var chains: [[[UInt8]]] = []
    private var subjects: [Pin.Subject: Pin.Subject] = [:]
    /// The key pairs that stand in for the planned keys, by key, and an authority for each.
    private let keys: [PrivateKey]
    private let authorities: [[UInt8]]

    init(_ plan: RotationPlan) throws(ToolError) {
        do {
            let keys = try plan.keys.map { _ throws(MintingError) in try PrivateKey(.p256) }
            authorities = try plan.keys.indices.map { index throws(MintingError) in
                try CertificateAuthority.root(name: "Authority \(index)", key: keys[index]).certificate.der
            }
            (self.plan, self.keys) = (plan, keys)
            for (key, standIn) in zip(plan.keys, keys) where !key.isMadeLater {
                guard let pin = try? PublicKeyPin(subjectPublicKeyInfo: standIn.spkiDER) else { continue }
                subjects[.publicKey(key.pin)] = .publicKey(pin)
            }
            for certificate in plan.certificates {
                guard let chain = try chain(of: certificate) else { continue }
                chains.append(chain)
                if let fingerprint = certificate.fingerprint, let leaf = chain.first {
                    subjects[.certificate(fingerprint)] = .certificate(CertificatePin(certificate: leaf))
                }
            }
        } catch {
            throw .unusable("no-certificates", "libcrypto makes no certificates: \(error)")
        }
    }

    private func chain(of certificate: RotationPlan.Certificate) throws(MintingError) -> [[UInt8]]? {
        guard let leafKey = certificate.keys.first else { return nil }
        var template = CertificateTemplate.forServer(hosts: ["stand-in.invalid"])
        template.notBefore = .date(certificate.notBefore)
        template.notAfter = .date(certificate.notAfter)
        let leaf = try template.selfSigned(with: keys[leafKey]).der
        return [leaf] + certificate.keys.dropFirst().map { authorities[$0] }
    }

    /// Returns stand-ins with another certificate in the place of a planned one. Pins of the planned certificate's
    /// fingerprint do not match the new one.
    ///
    /// - Throws: an error if libcrypto cannot make the certificate.
    func replacing(_ number: Int, by certificate: RotationPlan.Certificate) throws(MintingError) -> StandIns {
        var other = self
        guard let chain = try chain(of: certificate) else { return other }
        other.plan.certificates[number] = certificate
        other.chains[number] = chain
        return other
    }

    /// Returns the policy with the pins of the stand-ins.
    func policy(_ policy: PinningPolicy) throws(ToolError) -> PinningPolicy {
        func replaced(_ pins: [Pin]) -> [Pin] { pins.map { Pin(subjects[$0.subject] ?? $0.subject, at: $0.position) } }
        return try policy.replacingRules { rule in
            var rule = rule.pinning(replaced(rule.pins), backups: replaced(rule.backupPins))
            // A plan names only the keys of a path, not every certificate, so the length of the path is not known.
            rule.terms.path.minimumLength = nil
            if let key = rule.issuerKey, case .publicKey(let standIn) = subjects[.publicKey(key)] {
                rule.terms.path.issuerKey = standIn
            }
            return rule
        }
    }

    /// Returns the decision that the pinning library makes.
    ///
    /// - Parameter policy: a policy with the pins of the stand-ins.
    func decision(
        _ policy: PinningPolicy, about server: ServerEndpoint, serving certificate: Int, at instant: Date
    ) -> TrustDecision {
        let planned = plan.certificates[certificate]
        let served = Set(planned.keys.map { plan.keys[$0].pin })
        let evaluation = policy.evaluate(server, presented: chains[certificate], at: instant) { request in
            // A plan knows dates and roots. The simulation assumes that names and signatures are right.
            let path = request.chain.certificates
            let validity = request.chain.leaf.validity
            let isAnchored =
                planned.isPublic && request.anchors.includesSystem
                || request.anchors.certificates.contains { served.contains($0.publicKeyPin) }
            var findings: [PathFailure.Finding] = []
            if !isAnchored {
                findings.append(
                    .init(.untrustedRoot, depth: path.count - 1, text: "the root is not one of the anchors"))
            }
            if request.instant < validity.notBefore {
                findings.append(.init(.notYetValid, depth: 0, text: "the certificate is not valid yet"))
            } else if !validity.contains(request.instant) {
                findings.append(.init(.expired, depth: 0, text: "the certificate has expired"))
            }
            if let failure = PathFailure(findings) { return .invalid(failure) }
            return .valid(ValidatedPath(uncheckedLeafToAnchor: path.map(\.der)))
        }
        return evaluation.decision
    }
}

extension PinningPolicy {
    /// Returns the same policy with changed rules for the same hosts.
    func replacingRules(_ change: (PinnedHost) -> PinnedHost) throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(
                hosts: hosts.map(change), unpinnedHosts: unpinnedHosts, updateVersion: updateVersion,
                allowsUpdatesForAnyHost: allowsUpdatesForAnyHost)
        } catch {
            throw ToolError(error, file: "policy")
        }
    }
}

extension PinnedHost {
    /// Returns the same rule with other pins.
    func pinning(_ pins: [Pin], backups: [Pin]) -> PinnedHost {
        var rule = self
        rule.terms.pins = pins
        rule.terms.backupPins = backups
        return rule
    }
}

/// Checks with the verifier of the apps whether they would take a planned update. The update is signed with a temporary
/// key that the verifier trusts, so signatures are not tested. Floor, dates, scope and policy are.
struct UpdateTrial {
    private let key: SigningKey
    private let trust: UpdateTrust

    init() throws(ToolError) {
        key = try SigningKey.generate()
        guard let trust = try? UpdateTrust(keys: [key.publicKey]) else { throw .unusable("no-key", "no key to trust") }
        self.trust = trust
    }

    /// Returns the reason why an app that shipped with `bundled` would not take the update; `nil` if it would.
    func failure(
        of policy: PinningPolicy, version: Int, issued: Date, expires: Date, bundled: PinningPolicy, at instant: Date
    ) throws(ToolError) -> UpdateFailure? {
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(version: version, issuedAt: issued, expiresAt: expires, policy: policy))
        guard let signature = key.signature(of: envelope.signedBytes) else {
            throw .unusable("no-signature", "libcrypto fails")
        }
        envelope.signatures = [.init(keyID: key.publicKey.id, bytes: signature)]
        do {
            _ = try UpdateVerifier(trust: trust, bundled: bundled).verify(envelope.json, floor: nil, at: instant)
            return nil
        } catch {
            return error.failure
        }
    }
}
