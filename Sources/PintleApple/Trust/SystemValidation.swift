import Foundation
import Pintle
import Security

/// Path validation by the system. All questions of one decision use the same trust object.
///
/// The system may use the network to find a missing issuer: never call it on the main queue.
struct SystemValidation {
    private let trust: SecTrust
    /// The policies that the trust object came with; `nil` if they cannot be read.
    private let policies: [SecPolicy]?

    init(_ trust: SecTrust) {
        self.trust = trust
        var policies: CFArray?
        let status = SecTrustCopyPolicies(trust, &policies)
        self.policies = status == errSecSuccess ? policies as? [SecPolicy] : nil
        // With exceptions an evaluation succeeds despite the flaws that they name. On macOS `SecTrustSetOptions` sets
        // them too. Anchors and date are replaced below, and policies only refuse more, so nothing else that an app can
        // set makes the system accept a path. The function returns `false` if it cleared exceptions.
        _ = SecTrustSetExceptions(trust, nil)
    }

    /// Evaluates for the host, the anchors and the instant of the request, and returns the evaluated path.
    ///
    /// After a valid outcome the trust object stays in the state that led to that outcome.
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
        // Neither path satisfies the policy. Report the longer one, which says more, and put the trust object back into
        // that state.
        return evaluateForServers(request)
    }

    /// Makes the trust object trust nothing, for callers that evaluate it themselves after a refusal. Without this it
    /// could still have the leaf as its own anchor, with no check of the name.
    func leaveUntrusted() {
        if let policies { _ = SecTrustSetPolicies(trust, policies as CFArray) }
        _ = SecTrustSetAnchorCertificates(trust, [] as CFArray)
        _ = SecTrustSetAnchorCertificatesOnly(trust, true)
    }

    /// Evaluates with the system's rules for TLS servers, in addition to the policies that the trust object came with.
    /// All policies have to accept the path, so the added one can only refuse more.
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
        // The system reports one flaw, and prefers flaws of form to a missing authority. A user who is asked about a
        // server has to know about the latter. An evaluation with only the basic rules reports it for the same path.
        let path = trust.certificates
        let basic = [SecPolicyCreateBasicX509()]
        let second = evaluate(request, basic, anchors: request.anchors, at: request.instant)
        guard case .invalid(let missing) = second, missing.code.isMissingAuthority, trust.certificates == path else {
            return outcome
        }
        return .invalid(PathFailure([missing.primary, failure.primary] + failure.detail) ?? failure)
    }

    /// Evaluates the leaf as its own anchor.
    ///
    /// The system's rules for TLS servers require a server usage and at most 825 days of validity, even for an anchor
    /// that the app has given. Certificates of appliances often meet neither. So the system applies only its basic
    /// rules, and Pintle checks name and dates.
    private func outcomeOfLeafAsAnchor(_ request: PathRequest) -> PathOutcome {
        let leaf = request.chain.leaf
        // Validators disagree about the very last second.
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
        // Pins are compared with this path, so it has to start with the certificate that the decision is about.
        guard path.first == request.chain.leaf.der else {
            return .invalid(PathFailure(.other, text: "two readings of the chain differ"))
        }
        let validated = ValidatedPath(uncheckedLeafToAnchor: path)
        return request.keyFailure(of: validated).map { .invalid($0) } ?? .valid(validated)
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
        // Do not continue without an anchor that the system cannot read.
        guard certificates.count == anchors.certificates.count else { return errSecDecode }
        status = SecTrustSetAnchorCertificates(trust, certificates as CFArray)
        guard status == errSecSuccess else { return status }
        return SecTrustSetAnchorCertificatesOnly(trust, !anchors.includesSystem)
    }

    /// Returns `true` for a failure that no approval may override. A setting of the device denies the certificate, the
    /// app's Info.plist has no pin of its path, or the system restricts its issuer. Its authority has revoked it, or it
    /// is not in a certificate transparency log. The basic rules do not check all of these.
    ///
    /// The system names only its first flaw. A flaw of strength hides a setting, and one of form hides pins of the
    /// Info.plist and transparency. Then an approval or an anchor for the leaf counts despite them.
    private static func isFinal(_ failure: PathFailure) -> Bool {
        let statuses = [
            errSecTrustSettingDeny, errSecCertificateRevoked, errSecVerifyActionFailed,
            errSSLATSCertificateTrustViolation, errSecCertificatePolicyNotAllowed, errSecCertificateNameNotAllowed,
        ]
        return statuses.contains { failure.primary.platformCode == Int($0) }
    }

    private static func unusable(_ status: OSStatus) -> PathFailure {
        PathFailure(.other, platformCode: Int(status), text: "the system cannot be asked")
    }
}

extension PathFailure.Code {
    fileprivate var isMissingAuthority: Bool { self == .selfSigned || self == .untrustedRoot }
}
