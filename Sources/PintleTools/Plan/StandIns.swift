internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit
internal import PintleUpdates

/// Certificates made on the spot in the place of those that a plan describes, so that the decision itself can be asked
/// about them: it compares pins with certificates, and a plan may have nothing but the hash of a key that is offline.
///
/// Every planned key has a key pair here that stands in for it. In a policy the pins of planned keys become pins of
/// their stand-ins; all others stay, and match nothing. Which pin matches what is the same before and after.
struct StandIns {
    private(set) var plan: RotationPlan
    /// The chain for each certificate of the plan: DER, leaf first, the anchor last.
    private var chains: [[[UInt8]]] = []
    private var subjects: [Pin.Subject: Pin.Subject] = [:]
    /// The key pairs in the place of the planned keys, by key, and an authority for each.
    private let keys: [PrivateKey]
    private let authorities: [[UInt8]]

    init(_ plan: RotationPlan) throws(ToolError) {
        do {
            let keys = try plan.keys.map { _ throws(MintingError) in try PrivateKey(.p256) }
            authorities = try plan.keys.indices.map { index throws(MintingError) in
                try CertificateAuthority.root(name: "Authority \(index)", key: keys[index]).certificate.der
            }
            (self.plan, self.keys) = (plan, keys)
            for (key, standIn) in zip(plan.keys, keys) {
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

    /// The same with another certificate in the place of a planned one. Pins of the planned one's fingerprint do not
    /// match the other.
    ///
    /// - Throws: where libcrypto makes none.
    func replacing(_ number: Int, by certificate: RotationPlan.Certificate) throws(MintingError) -> StandIns {
        var other = self
        guard let chain = try chain(of: certificate) else { return other }
        other.plan.certificates[number] = certificate
        other.chains[number] = chain
        return other
    }

    /// The policy with the pins of the stand-ins.
    func policy(_ policy: PinningPolicy) throws(ToolError) -> PinningPolicy {
        func replaced(_ pins: [Pin]) -> [Pin] { pins.map { Pin(subjects[$0.subject] ?? $0.subject, at: $0.position) } }
        return try policy.replacingRules { rule in
            var rule = rule.pinning(replaced(rule.pins), backups: replaced(rule.backupPins))
            // A plan names keys, not every certificate of a path, so that its length is not known.
            rule.terms.path.minimumLength = nil
            if let key = rule.issuerKey, case .publicKey(let standIn) = subjects[.publicKey(key)] {
                rule.terms.path.issuerKey = standIn
            }
            return rule
        }
    }

    /// The decision of the core.
    ///
    /// - Parameter policy: one with the pins of the stand-ins.
    func decision(
        _ policy: PinningPolicy, about server: ServerEndpoint, serving certificate: Int, at instant: Date
    ) -> TrustDecision {
        let planned = plan.certificates[certificate]
        let served = Set(planned.keys.map { plan.keys[$0].pin })
        let evaluation = policy.evaluate(server, presented: chains[certificate], at: instant) { request in
            // A plan knows dates and roots; that names and signatures are right is what it takes for granted.
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
    /// The same policy with other rules for the same hosts.
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

/// Asks the verifier of the apps whether they would take a planned update: signed with a key of the moment, which they
/// are made to trust. Signatures are what a plan takes for granted; floor, dates, scope and the policy are not.
struct UpdateTrial {
    private let key: SigningKey
    private let trust: UpdateTrust

    init() throws(ToolError) {
        key = try SigningKey.generate()
        guard let trust = try? UpdateTrust(keys: [key.publicKey]) else { throw .unusable("no-key", "no key to trust") }
        self.trust = trust
    }

    /// Returns the reason for which an app that shipped with `bundled` would not take the update; `nil` if it would.
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
