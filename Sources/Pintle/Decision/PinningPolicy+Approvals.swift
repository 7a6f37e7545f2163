#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Step 3 of the decision: hosts without a rule, if the policy leaves them to the user.
extension PinningPolicy {
    /// Decides by the user's approval, or reports a server that the user has to be asked about.
    ///
    /// The path is validated against the system's anchors first. The question to the user has to say whether the system
    /// trusts the server, and an approval accepts only the failures that the user saw then.
    func decideByApproval(
        _ endpoint: ServerEndpoint, _ chain: PresentedChain, _ approvals: TrustApprovals, at instant: Date,
        validate: (PathRequest) -> PathOutcome
    ) -> (decision: TrustDecision, path: ValidatedPath?) {
        let check = ApprovalCheck(endpoint: endpoint, chain: chain, instant: instant)
        let system = validate(check.request(.system))
        let approval = approvals[endpoint]
        switch (approval, check.standing(of: approval)) {
        case (let approval?, .approved):
            let accepts = approval.accepts.intersection(approval.subject.acceptable)
            switch check.forgiving(accepts, system, validate) {
            case .valid(let path): return (.trusted(.userApproved(approval)), path)
            case .invalid(let failure): return (.rejected(.invalidPath(failure)), nil)
            }
        case (let approval?, .changed):
            return (.rejected(.pinMismatch(check.mismatch(with: approval, system.failure))), system.path)
        default:
            return (
                .rejected(.unknownHost(check.unknownHost(after: approval, in: approvals.record, system, validate))),
                system.path
            )
        }
    }

    /// Decides about a path that the caller's own validation has accepted.
    func decideByApproval(
        _ endpoint: ServerEndpoint, _ path: ValidatedPath, _ approvals: TrustApprovals, at instant: Date
    ) -> TrustDecision {
        let chain: PresentedChain
        do {
            chain = try PresentedChain(path.certificates)
        } catch {
            return .rejected(.invalidPath(error))
        }
        return decideByApproval(endpoint, chain, approvals, at: instant) { _ in .valid(path) }.decision
    }
}

/// A server whose trust depends on the user's approval.
private struct ApprovalCheck {
    let endpoint: ServerEndpoint
    let chain: PresentedChain
    let instant: Date

    enum Standing {
        case approved, changed, unknown
    }

    func standing(of approval: TrustApproval?) -> Standing {
        guard let approval else { return .unknown }
        return switch (approval.state(at: instant), approval.matches(chain.leaf)) {
        case (.revoked, _), (.expired, true): .unknown
        case (.live, true): .approved
        // A changed key stays an alarm even if the approval of the old key has expired.
        case (.live, false), (.expired, false): .changed
        }
    }

    func request(
        _ anchors: TrustAnchors, accepting accepted: Set<TrustApproval.AcceptedFailure> = []
    ) -> PathRequest {
        PathRequest(
            chain: chain, host: endpoint.host, anchors: anchors, instant: instant, pins: nil, accepted: accepted)
    }

    /// Returns the outcome if the user vouches for the server. The leaf is validated as its own anchor, so every
    /// failure apart from a missing authority still shows. Names, dates, key strength and extended key usage are
    /// checked; a name or date passes only if an approval of this certificate accepts it. Being a CA certificate is no
    /// failure here, because most self-signed certificates are made as one.
    func forgiving(
        _ accepted: Set<TrustApproval.AcceptedFailure>, _ outcome: PathOutcome, _ validate: (PathRequest) -> PathOutcome
    ) -> PathOutcome {
        // `expired` is accepted only if the leaf itself has expired, because that is the certificate the user saw. An
        // expired issuer is not on the path that ends at the leaf.
        let accepted = chain.leaf.validity.hasEnded(at: instant) ? accepted : accepted.subtracting([.expired])
        guard case .invalid(let failure) = outcome,
            failure.acceptable.intersection(TrustApproval.AcceptedFailure.missingAuthority).isSubset(of: accepted)
        else { return outcome }
        let exceptions = accepted.intersection(TrustApproval.AcceptedFailure.ofCertificate)
        let alone = validate(request(.only([chain.leaf]), accepting: exceptions))
        let purpose = chain.leaf.foreignPurpose(at: 0).filter { purpose in
            !(alone.failure?.findings.contains { $0.code == purpose.code } ?? false)
        }
        let rest = purpose.isEmpty ? alone.failure : PathFailure((alone.failure?.findings ?? []) + purpose)
        if let rest { return .invalid(rest.appending(acceptedFindingsOf: failure, accepted)) }
        // The leaf by itself is valid. Use that path if the original failure is one that was accepted; otherwise keep
        // the failure.
        return failure.isAmong(accepted) ? alone : outcome
    }

    func unknownHost(
        after previous: TrustApproval?, in record: TrustApprovals.Record, _ system: PathOutcome,
        _ validate: (PathRequest) -> PathOutcome
    ) -> UnknownHost {
        let usual = TrustApproval.AcceptedFailure.missingAuthority
        let unacceptable = forgiving(usual, system, validate).failure
        // Some platforms report one failure at a time, so repeat until no new one appears.
        var exceptions: Set<TrustApproval.AcceptedFailure> = []
        var (rest, isAcceptable) = (unacceptable, false)
        while let failure = rest {
            let found = failure.acceptable.intersection(TrustApproval.AcceptedFailure.ofCertificate)
            guard !found.isSubset(of: exceptions) else { break }
            exceptions.formUnion(found)
            rest = forgiving(usual.union(exceptions), system, validate).failure
            isAcceptable = rest == nil
        }
        return UnknownHost(
            endpoint: endpoint, leaf: chain.leaf, pathFailure: system.failure, unacceptableFailure: unacceptable,
            exceptionsOfCertificate: isAcceptable ? exceptions : [], previous: previous, approvalRecord: record)
    }

    func mismatch(with approval: TrustApproval, _ failure: PathFailure?) -> PinMismatch {
        PinMismatch(
            endpoint: endpoint, rule: nil,
            approval: ApprovalMismatch(approval: approval, leaf: chain.leaf, pathFailure: failure),
            servedPins: [chain.leaf.publicKeyPin], pins: [Pin(approval.subject, at: .leaf)], backupPins: [],
            slip: .nothingInCommon)
    }
}

extension TrustApproval.AcceptedFailure {
    /// Returns `nil` for failures that no approval can accept.
    init?(_ code: PathFailure.Code) {
        switch code {
        case .selfSigned: self = .selfSigned
        case .untrustedRoot: self = .untrustedRoot
        case .nameMismatch: self = .nameMismatch
        case .expired: self = .expired
        default: return nil
        }
    }
}

extension PathFailure {
    /// The findings that an approval can accept.
    var acceptable: Set<TrustApproval.AcceptedFailure> {
        Set(findings.compactMap { TrustApproval.AcceptedFailure($0.code) })
    }

    fileprivate var findings: [Finding] { [primary] + detail }

    /// Returns whether the primary finding is one of these failures.
    fileprivate func isAmong(_ accepted: Set<TrustApproval.AcceptedFailure>) -> Bool {
        TrustApproval.AcceptedFailure(code).map(accepted.contains) ?? false
    }

    /// Returns this failure with the accepted findings of another appended as details. They are not why the server is
    /// refused, but they still apply.
    fileprivate func appending(
        acceptedFindingsOf failure: PathFailure, _ accepted: Set<TrustApproval.AcceptedFailure>
    ) -> PathFailure {
        let forgiven = failure.findings.filter { finding in
            (TrustApproval.AcceptedFailure(finding.code).map(accepted.contains) ?? false) && !findings.contains(finding)
        }
        return PathFailure(primary: primary, detail: detail + forgiven)
    }
}
