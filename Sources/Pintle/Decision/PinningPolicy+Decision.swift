#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PinningPolicy {
    /// Decides whether the caller may trust a server.
    ///
    /// The first step that applies decides:
    ///
    /// 1. The chain exceeds the limits or is empty, or its leaf cannot be parsed: `invalid-path`.
    /// 2. The rule for the host is looked up. Without one, and if the policy refuses such hosts: `host-not-allowed`.
    /// 3. Without a rule, and if the policy leaves such hosts to the user:
    ///    - If the leaf or its key has an approval in force: `user-approved`, or `invalid-path` if the path has a
    ///      failure that the user did not accept.
    ///    - If another certificate or key is approved: `pin-mismatch`.
    ///    - Otherwise: `unknown-host`, with the system's verdict.
    /// 4. The path is validated with the rule's anchors, always, before any pin: `invalid-path` if that fails. A valid
    ///    path that does not meet the rule's terms about length and issuer is refused here too.
    /// 5. The rule has no pins: `host-not-pinned`.
    /// 6. The pins have expired: `pins-expired`.
    /// 7. The pins are compared with the validated path, leaf first: `pin-matched`, `pin-mismatch`, or
    ///    `mismatch-reported-only`.
    ///
    /// - Parameters:
    ///   - endpoint: the host and port that the caller asked for, never a name from a certificate.
    ///   - presented: the certificates that the server sent, in DER, the leaf first.
    ///   - approvals: the users' approvals of servers. Only step 3 uses them.
    ///   - instant: the current time, except in tests and for recorded chains.
    ///   - newestKnownTime: the latest time known to have passed, such as the build date or the date of the last
    ///     update. It does not affect the verdict; it only distinguishes a wrong clock from an app without updates.
    ///   - validate: builds and checks the path. It is called at most once; in step 3, up to four times. Calls after
    ///     the first have the leaf as the only anchor, and the last ones ``PathRequest/accepted`` failures.
    public func evaluate(
        _ endpoint: ServerEndpoint,
        presented: [[UInt8]],
        approvals: TrustApprovals = .none,
        at instant: Date,
        newestKnownTime: Date? = nil,
        validate: (PathRequest) -> PathOutcome
    ) -> TrustEvaluation {
        let chain: PresentedChain
        do {
            chain = try PresentedChain(presented)
        } catch {
            return TrustEvaluation(
                endpoint: endpoint, decision: .rejected(.invalidPath(error)), rule: nil, presented: nil, path: nil)
        }
        let rule = rule(for: endpoint)
        func conclude(_ decision: TrustDecision, _ path: ValidatedPath? = nil) -> TrustEvaluation {
            TrustEvaluation(
                endpoint: endpoint, decision: decision, rule: rule, presented: chain, path: path,
                origin: TrustEvaluation.Origin(policy: self, instant: instant))
        }
        func validated(_ request: PathRequest) -> PathOutcome {
            let outcome = validate(request)
            return outcome.path?.count == 0 ? .invalid(Self.noCertificates) : outcome
        }
        if rule == nil, unpinnedHosts == .reject { return conclude(.rejected(.hostNotAllowed(endpoint))) }
        if let refusal = Self.refusal(ofAlias: endpoint) { return conclude(refusal) }
        if rule == nil, unpinnedHosts == .askUser {
            let (decision, path) = decideByApproval(endpoint, chain, approvals, at: instant, validate: validated)
            return conclude(decision, path)
        }
        let host = rule.map { hosts[$0.index] }
        let isExpired = host?.expiry.isOver(at: instant) ?? false
        let outcome = validated(
            PathRequest(
                chain: chain, host: endpoint.host, anchors: anchors(of: rule), instant: instant,
                pins: isExpired ? nil : host?.pinSet, terms: host?.pathTerms ?? PathTerms()))
        switch outcome {
        case .invalid(let failure):
            return conclude(.rejected(.invalidPath(failure)))
        case .valid(let path):
            let decision = decide(
                endpoint, path: path, rule: rule, presented: chain, at: instant, newestKnownTime: newestKnownTime)
            return conclude(decision, path)
        }
    }

    /// Decides about a path that the caller's own validation has just built. Only steps 2 and 5 to 7 and the rule's
    /// terms about the path apply.
    ///
    /// Use it for TLS stacks whose validation cannot be asked for another path. A path without certificates is refused
    /// as `invalid-path`. Under `askUser` the users' approvals decide about hosts without a rule. The path is valid, so
    /// an approval has no failure to accept.
    public func decide(
        _ endpoint: ServerEndpoint, path: ValidatedPath, approvals: TrustApprovals = .none, at instant: Date
    ) -> TrustDecision {
        let rule = rule(for: endpoint)
        if rule == nil {
            if unpinnedHosts == .reject { return .rejected(.hostNotAllowed(endpoint)) }
            if let refusal = Self.refusal(ofAlias: endpoint) { return refusal }
            if unpinnedHosts == .askUser { return decideByApproval(endpoint, path, approvals, at: instant) }
        }
        if path.count == 0 { return .rejected(.invalidPath(Self.noCertificates)) }
        return decide(endpoint, path: path, rule: rule, presented: nil, at: instant, newestKnownTime: nil)
    }

    /// Returns the rule that decides about a server; `nil` if no rule covers it.
    public func rule(for endpoint: ServerEndpoint) -> MatchedRule? {
        guard let match = table.match(endpoint) else { return nil }
        let host = hosts[match.rule]
        return MatchedRule(index: match.rule, host: host.host, port: host.port, isExact: match.isExact)
    }
}

extension PinningPolicy {
    /// Returns whether a server that this policy trusts may get the client's identity: a pin has matched, or the path
    /// ends at an anchor that the rule brings. An authority that the system trusts, and a developer's proxy, never
    /// suffice.
    ///
    /// - Parameter includesApproved: `true` if the user's approval suffices too.
    package func mayIdentifyClient(to evaluation: TrustEvaluation, includesApproved: Bool) -> Bool {
        guard case .trusted(let basis) = evaluation.decision else { return false }
        switch basis {
        case .pinMatched: return true
        case .userApproved: return includesApproved
        case .pinsExpired, .mismatchReportedOnly: return false
        case .hostNotPinned:
            guard let rule = evaluation.rule, let path = evaluation.path, let anchor = path.certificates.last else {
                return false
            }
            #if DEBUG
            if let debugAnchors, debugAnchors.areEnd(of: path) { return false }
            #endif
            return hosts[rule.index].anchors.certificates.contains { $0.der == anchor }
        }
    }
}

/// The rule that decides about a server.
public struct MatchedRule: Sendable, Hashable {
    /// The rule's index in ``PinningPolicy/hosts``.
    public let index: Int
    /// The host of the rule, which may be a parent domain of the server's name.
    public let host: ServerName
    /// The port of the rule; `nil` if the rule covers every port.
    public let port: UInt16?
    /// A Boolean value that indicates whether the rule names the server's host itself. If false, the server is a
    /// sub-domain of it.
    package let isExact: Bool

    /// The host of the rule and its port, if it has one: `example.com:8443`.
    public var pattern: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}

extension MatchedRule: CustomStringConvertible {
    /// The same text as ``pattern``.
    public var description: String { pattern }
}

// MARK: Steps

extension PinningPolicy {
    /// Returns the refusal of a server whose address is only another spelling of the one that systems connect to; `nil`
    /// for other servers. The rule for that other address would not be found.
    private static func refusal(ofAlias endpoint: ServerEndpoint) -> TrustDecision? {
        AddressAlias(endpoint.host).map { alias in
            .rejected(.invalidPath(PathFailure(.other, text: "\(alias.message); \(alias.hint)")))
        }
    }

    /// Runs steps 5 to 7, after checking the rule's terms about the path.
    private func decide(
        _ endpoint: ServerEndpoint, path: ValidatedPath, rule: MatchedRule?, presented: PresentedChain?,
        at instant: Date, newestKnownTime: Date?
    ) -> TrustDecision {
        guard let rule else { return .trusted(.hostNotPinned) }
        #if DEBUG
        if let debugAnchors, debugAnchors.areEnd(of: path) { return .trusted(.hostNotPinned) }
        #endif
        let host = hosts[rule.index]
        if let unmet = host.pathTerms.unmet(by: path) {
            return .rejected(.unmet(unmet))
        }
        if host.pinSet.isEmpty { return .trusted(.hostNotPinned) }
        if host.expiry.isOver(at: instant) {
            let expired = ExpiredPins(
                endpoint: endpoint, rule: rule,
                isClockSuspicious: Self.isSuspicious(instant, newestKnownTime: newestKnownTime))
            if case .rejecting = host.expiry { return .rejected(.pinsExpired(expired)) }
            return .trusted(.pinsExpired(expired))
        }
        if let match = host.pinSet.match(path) { return .trusted(.pinMatched(match)) }
        let mismatch = PinMismatch(
            endpoint: endpoint, rule: rule, approval: nil, servedPins: path.publicKeyPins, pins: host.pins,
            backupPins: host.backupPins,
            slip: .find(host, path: path, presented: presented, in: self))
        switch host.enforcement {
        case .enforce: return .rejected(.pinMismatch(mismatch))
        case .reportOnly: return .trusted(.mismatchReportedOnly(mismatch))
        }
    }

    private static let noCertificates = PathFailure(.emptyChain, text: "the validated path has no certificates")

    /// Returns the roots that paths may end at.
    private func anchors(of rule: MatchedRule?) -> TrustAnchors {
        let anchors = rule.map { hosts[$0.index].anchors } ?? .system
        #if DEBUG
        if let debugAnchors { return debugAnchors.anchors(beside: anchors) }
        #endif
        return anchors
    }

    /// The lead over the newest known time from which a clock counts as suspicious.
    private static let suspiciousLead: TimeInterval = 400 * 86_400

    private static func isSuspicious(_ instant: Date, newestKnownTime: Date?) -> Bool {
        newestKnownTime.map { instant.timeIntervalSince($0) > suspiciousLead } ?? false
    }
}

extension PathOutcome {
    var path: ValidatedPath? {
        if case .valid(let path) = self { path } else { nil }
    }

    var failure: PathFailure? {
        if case .invalid(let failure) = self { failure } else { nil }
    }
}
