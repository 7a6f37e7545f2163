import Foundation
import Pintle
import Security

/// Path validation by the system: each question of a decision, asked of one trust object.
///
/// The system may go to the network meanwhile, for a missing issuer: never call it on the main queue.
struct SystemValidation {
    private let trust: SecTrust
    /// The policies that the trust object came with; `nil` where they cannot be read.
    private let policies: [SecPolicy]?

    init(_ trust: SecTrust) {
        self.trust = trust
        var policies: CFArray?
        let status = SecTrustCopyPolicies(trust, &policies)
        self.policies = status == errSecSuccess ? policies as? [SecPolicy] : nil
    }

    /// Evaluates for the host, the anchors and the instant of the request, and reads the path that was evaluated.
    ///
    /// After a valid outcome the trust object stays as it was evaluated for that outcome.
    func outcome(of request: PathRequest) -> PathOutcome {
        guard request.namesLeafAsAnchor else { return outcomeForServers(request) }
        let forServers = evaluateForServers(request)
        switch forServers {
        case .valid(let path) where request.isSatisfied(by: path): return forServers
        case .invalid(let failure) where Self.isFinal(failure): return forServers
        default: break
        }
        let ofLeaf = outcomeOfLeafAsAnchor(request)
        guard case .valid = forServers else { return ofLeaf }
        if case .valid(let path) = ofLeaf, request.isSatisfied(by: path) { return ofLeaf }
        // Neither path is what the policy wants; the longer one says more. The trust object shall stand for it again.
        return evaluateForServers(request)
    }

    /// Leaves the trust object so that it trusts nothing, for callers that ask it themselves after a refusal. The last
    /// question may have been about the leaf as its own anchor, without a name.
    func leaveUntrusted() {
        if let policies { _ = SecTrustSetPolicies(trust, policies as CFArray) }
        _ = SecTrustSetAnchorCertificates(trust, [] as CFArray)
        _ = SecTrustSetAnchorCertificatesOnly(trust, true)
    }

    /// Evaluates by the system's rules for TLS servers, beside the policies that the trust object came with. Every
    /// policy has to be content, so that ours can only subtract.
    private func evaluateForServers(_ request: PathRequest) -> PathOutcome {
        guard let policies else { return .invalid(Self.unusable(errSecInternalError)) }
        let own = SecPolicyCreateSSL(true, request.host.description as CFString)
        return evaluate(request, policies + [own], anchors: request.anchors, at: request.instant)
    }

    private func outcomeForServers(_ request: PathRequest) -> PathOutcome {
        let outcome = evaluateForServers(request)
        guard case .invalid(let failure) = outcome, !failure.code.isMissingAuthority, !Self.isFinal(failure) else {
            return outcome
        }
        // The system names one flaw, and flaws of form before a missing authority. A person who is asked about a server
        // has to hear of the latter. The same path says so where only the basic rules are asked.
        let path = trust.certificates
        let basic = [SecPolicyCreateBasicX509()]
        let second = evaluate(request, basic, anchors: request.anchors, at: request.instant)
        guard case .invalid(let missing) = second, missing.code.isMissingAuthority, trust.certificates == path else {
            return outcome
        }
        return .invalid(PathFailure([missing.primary, failure.primary] + failure.detail) ?? failure)
    }

    /// Evaluates the leaf as its own anchor. The system's rules for TLS servers demand a server's usage and at most 825
    /// days even of an anchor that the app has given, and appliances have neither. So the system is asked by the basic
    /// rules, and the core checks name and dates.
    private func outcomeOfLeafAsAnchor(_ request: PathRequest) -> PathOutcome {
        let leaf = request.chain.leaf
        // Validators differ about the very last second.
        let lastInstant = leaf.validity.notAfter - 1
        let instant = request.accepts(.expired) ? min(request.instant, lastInstant) : request.instant
        let outcome = evaluate(request, [SecPolicyCreateBasicX509()], anchors: .only([leaf]), at: instant)
        var findings = request.findingsOfLeafAsAnchor()
        if case .invalid(let failure) = outcome, !findings.contains(where: { $0.code == failure.code }) {
            findings.append(failure.primary)
        }
        if let failure = PathFailure(findings) { return .invalid(failure) }
        return .valid(ValidatedPath(uncheckedLeafToAnchor: [leaf.der]))
    }

    private func evaluate(
        _ request: PathRequest, _ policies: [SecPolicy], anchors: TrustAnchors, at instant: Date
    ) -> PathOutcome {
        let status = prepare(policies, anchors, instant)
        guard status == errSecSuccess else { return .invalid(Self.unusable(status)) }
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            let status = error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) } ?? errSecNotTrusted
            return .invalid(SystemStatus.failure(status, request.chain.leaf, path: trust.certificates, at: instant))
        }
        let path = trust.certificates
        // Pins are compared with this path: it has to be about the certificate that was decided on.
        guard path.first == request.chain.leaf.der else {
            return .invalid(PathFailure(.other, text: "two readings of the chain differ"))
        }
        return .valid(ValidatedPath(uncheckedLeafToAnchor: path))
    }

    private func prepare(_ policies: [SecPolicy], _ anchors: TrustAnchors, _ instant: Date) -> OSStatus {
        var status = SecTrustSetPolicies(trust, policies as CFArray)
        guard status == errSecSuccess else { return status }
        status = SecTrustSetVerifyDate(trust, instant as CFDate)
        guard status == errSecSuccess else { return status }
        guard !anchors.certificates.isEmpty || !anchors.includesSystem else {
            return SecTrustSetAnchorCertificates(trust, nil)
        }
        let certificates = anchors.certificates.compactMap { SecCertificate.reading($0.der) }
        // One that the system cannot read is no reason to go on without it.
        guard certificates.count == anchors.certificates.count else { return errSecDecode }
        status = SecTrustSetAnchorCertificates(trust, certificates as CFArray)
        guard status == errSecSuccess else { return status }
        return SecTrustSetAnchorCertificatesOnly(trust, !anchors.includesSystem)
    }

    /// Returns whether no approval may override this: a setting of the device denies the certificate, its authority has
    /// revoked it, or it is in no log. The basic rules do not ask all of that.
    private static func isFinal(_ failure: PathFailure) -> Bool {
        let statuses = [errSecTrustSettingDeny, errSecCertificateRevoked, errSecVerifyActionFailed]
        return statuses.contains { failure.primary.platformCode == Int($0) }
    }

    private static func unusable(_ status: OSStatus) -> PathFailure {
        PathFailure(.other, platformCode: Int(status), text: "the system cannot be asked")
    }
}

extension PathFailure.Code {
    fileprivate var isMissingAuthority: Bool { self == .selfSigned || self == .untrustedRoot }
}
