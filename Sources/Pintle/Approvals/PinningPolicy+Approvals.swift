#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Step 3 of the decision: hosts without a rule that are left to a person.
extension PinningPolicy {
    /// What a person has said, or has still to say.
    ///
    /// The path is validated against the system's anchors first: whoever asks a person has to say what the system
    /// thinks, and an approval forgives no more than was seen then.
    @inline(never)
    func decideByApproval(
        _ endpoint: ServerEndpoint, _ chain: PresentedChain, _ approvals: TrustApprovals, at instant: Date,
        validate: (PathRequest) -> PathOutcome
    ) -> (decision: TrustDecision, path: ValidatedPath?) {
        let contact = Contact(endpoint: endpoint, chain: chain, instant: instant)
        let system = validate(contact.request(.system))
        let approval = approvals[endpoint]
        switch (approval, contact.standing(of: approval)) {
        case (let approval?, .approved):
            switch contact.forgiving(approval.accepts, system, validate) {
            case .valid(let path): return (.trusted(.userApproved(approval)), path)
            case .invalid(let failure): return (.rejected(.invalidPath(failure)), nil)
            }
        case (let approval?, .changed):
            return (.rejected(.pinMismatch(contact.mismatch(with: approval, system.failure))), system.path)
        default:
            return (
                .rejected(.unknownHost(contact.unknownHost(after: approval, in: approvals.record, system, validate))),
                system.path
            )
        }
    }

    /// The same for a path that the caller's own validation has found good.
    @inline(never)
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

/// A server before a person's judgement.
private struct Contact {
    let endpoint: ServerEndpoint
    let chain: PresentedChain
    let instant: Date

    enum Standing {
        case approved, changed, unknown
    }

    func standing(of approval: TrustApproval?) -> Standing {
        guard let approval else { return .unknown }
        return switch (approval.state(at: instant), approval.names(chain.leaf)) {
        case (.revoked, _), (.expired, true): .unknown
        case (.live, true): .approved
        // A key does not become less strange because the approval of another has run out meanwhile.
        case (.live, false), (.expired, false): .changed
        }
    }

    func request(_ anchors: TrustAnchors) -> PathRequest {
        PathRequest(chain: chain, host: endpoint.host, anchors: anchors, instant: instant, pins: nil)
    }

    /// What is left of an outcome where a person vouches for the server: where nobody else does, the leaf is validated
    /// as its own anchor, which tells what else is wrong. Names, dates, strength and the extended key usage count;
    /// that such a certificate is mostly made as an authority's does not.
    func forgiving(
        _ accepted: Set<TrustApproval.AcceptedFailure>, _ outcome: PathOutcome, _ validate: (PathRequest) -> PathOutcome
    ) -> PathOutcome {
        guard case .invalid(let failure) = outcome, failure.acceptable.isSubset(of: accepted) else { return outcome }
        let alone = validate(request(.only([chain.leaf])))
        let purpose = chain.leaf.foreignPurpose(beside: alone.failure)
        let rest = purpose.isEmpty ? alone.failure : PathFailure((alone.failure?.findings ?? []) + purpose)
        if let rest { return .invalid(rest.beside(failure)) }
        // With the leaf nothing is wrong. Whatever else is, short of the two, nobody can accept.
        return TrustApproval.AcceptedFailure(failure.code) == nil ? outcome : alone
    }

    func unknownHost(
        after previous: TrustApproval?, in record: TrustApprovals.Record, _ system: PathOutcome,
        _ validate: (PathRequest) -> PathOutcome
    ) -> UnknownHost {
        let all = Set(TrustApproval.AcceptedFailure.allCases)
        return UnknownHost(
            endpoint: endpoint, leaf: chain.leaf, pathFailure: system.failure,
            unacceptableFailure: forgiving(all, system, validate).failure, previous: previous,
            approvalRecord: record)
    }

    func mismatch(with approval: TrustApproval, _ failure: PathFailure?) -> PinMismatch {
        PinMismatch(
            endpoint: endpoint, rule: nil,
            approval: ApprovalMismatch(approval: approval, leaf: chain.leaf, pathFailure: failure),
            servedPins: [chain.leaf.publicKeyPin], pins: [Pin(approval.subject, at: .leaf)], backupPins: [],
            nearestMiss: .nothingInCommon)
    }
}

extension Certificate {
    /// A certificate that says what it is for, and not that it is for servers, such as one for signing programs
    /// (RFC 5280 section 4.2.1.12). Validation does not ask that of an anchor.
    fileprivate func foreignPurpose(beside failure: PathFailure?) -> [PathFailure.Finding] {
        let isKnown = failure?.findings.contains { $0.code == .unsuitablePurpose } ?? false
        guard !isKnown, let extendedKeyUsage, !extendedKeyUsage.allowsServerAuthentication else { return [] }
        return [.init(.unsuitablePurpose, depth: 0, text: "an extended key usage without serverAuth")]
    }
}

extension TrustApproval.AcceptedFailure {
    /// `nil` for what nobody can accept.
    init?(_ code: PathFailure.Code) {
        switch code {
        case .selfSigned: self = .selfSigned
        case .untrustedRoot: self = .untrustedRoot
        default: return nil
        }
    }
}

extension PathFailure {
    /// Of its findings those that a person may accept.
    var acceptable: Set<TrustApproval.AcceptedFailure> {
        Set(findings.compactMap { TrustApproval.AcceptedFailure($0.code) })
    }

    fileprivate var findings: [Finding] { [primary] + detail }

    /// This one, with what the person has accepted behind it: it is not why the server is refused, and still true.
    func beside(_ accepted: PathFailure) -> PathFailure {
        let forgiven = accepted.findings.filter { finding in
            TrustApproval.AcceptedFailure(finding.code) != nil && !findings.contains(finding)
        }
        return PathFailure(primary: primary, detail: detail + forgiven)
    }
}
