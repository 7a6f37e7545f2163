package import Pintle
internal import PintleConsole
internal import PintleSystem

extension RotationPlan {
    /// Returns the decision that the pinning library makes about a certificate of the plan. A plan knows the hashes of
    /// keys and certificates, dates and roots. The simulation assumes that names and signatures are right.
    ///
    /// If the policy asks the user about the server, the decision is ``TrustRejection/hostNotAllowed(_:)``: there is no
    /// certificate to ask about. ``LockOut/asksUser`` is then `true`.
    ///
    /// - Parameters:
    ///   - policy: a policy without ``PinnedHost/minimumPathLength``; see ``PinningPolicy/withoutPathLengths()``.
    ///   - server: the server.
    ///   - certificate: the index of the certificate that it serves.
    ///   - instant: the time.
    func decision(
        _ policy: PinningPolicy, about server: ServerEndpoint, serving certificate: Int, at instant: Date
    ) -> TrustDecision {
        let rule = policy.rule(for: server)
        guard rule != nil || policy.unpinnedHosts == .systemTrust else { return .rejected(.hostNotAllowed(server)) }
        let planned = certificates[certificate]
        let findings = findings(planned, at: instant, under: rule.map { policy.hosts[$0.index].anchors } ?? .system)
        if let failure = PathFailure(findings) { return .rejected(.invalidPath(failure)) }
        return policy.decide(server, path: path(of: planned), at: instant)
    }

    private func findings(
        _ planned: Certificate, at instant: Date, under anchors: TrustAnchors
    ) -> [PathFailure.Finding] {
        let served = Set(planned.keys.map { keys[$0].pin })
        let isAnchored =
            planned.isPublic && anchors.includesSystem
            || anchors.certificates.contains { served.contains($0.publicKeyPin) }
        var findings: [PathFailure.Finding] = []
        if !isAnchored {
            let root = planned.keys.count - 1
            findings.append(.init(.untrustedRoot, depth: root, text: "the root is not one of the anchors"))
        }
        if instant.wholeSeconds < planned.notBefore.wholeSeconds {
            findings.append(.init(.notYetValid, depth: 0, text: "the certificate is not valid yet"))
        } else if instant.wholeSeconds > planned.notAfter.wholeSeconds {
            findings.append(.init(.expired, depth: 0, text: "the certificate has expired"))
        }
        return findings
    }

    /// Returns the path by its hashes. A key that is made later has none: no policy can name it before it exists.
    private func path(of planned: Certificate) -> ValidatedPath {
        ValidatedPath(
            planned: planned.keys.enumerated().map { depth, key in
                CertificateHashes(
                    key: keys[key].isMadeLater ? nil : keys[key].pin,
                    certificate: depth == 0 ? planned.fingerprint : nil)
            })
    }

    /// Returns the plan with another certificate in the place of a planned one. Pins of the planned certificate's
    /// fingerprint do not match the new one.
    func replacing(_ number: Int, by certificate: Certificate) -> RotationPlan {
        var plan = self
        plan.certificates[number] = certificate
        plan.certificates[number].fingerprint = nil
        return plan
    }
}

extension PinningPolicy {
    /// Returns the same policy without requirements on the length of paths. A plan names only the keys of a path, not
    /// every certificate, so the length is not known.
    func withoutPathLengths() throws(ToolError) -> PinningPolicy {
        try replacingRules { rule in
            var rule = rule
            rule.pathTerms.minimumLength = nil
            return rule
        }
    }

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
    package func pinning(_ pins: [Pin], backups: [Pin]) -> PinnedHost {
        var rule = self
        rule.pins = pins
        rule.backupPins = backups
        return rule
    }
}
