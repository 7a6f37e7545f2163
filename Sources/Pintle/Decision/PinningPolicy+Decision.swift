#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PinningPolicy {
    /// Decides whether a server is the one that is meant.
    ///
    /// The order, in which the first that applies ends it:
    ///
    /// 1. The chain exceeds the limits, is empty, or its leaf cannot be read: `invalid-path`.
    /// 2. The rule for the host is found. None, and the policy refuses such hosts: `host-not-allowed`.
    /// 3. None, and the policy leaves such hosts to a person: a live approval of the leaf or its key, and nothing wrong
    ///    beside what the person accepted: `user-approved`. An approval of another: `pin-mismatch`. Something else is
    ///    wrong: `invalid-path`. None: `unknown-host`, with what the system thinks.
    /// 4. The path is validated with the rule's anchors, always, before any pin: `invalid-path`.
    ///    A valid path that does not meet the rule's terms about length and issuer is refused here too.
    /// 5. There are no pins: `host-not-pinned`.
    /// 6. The pins are past their date: `pins-expired`.
    /// 7. The pins are compared with the validated path, leaf first: `pin-matched`, `pin-mismatch`,
    ///    or `mismatch-reported-only`.
    ///
    /// - Parameters:
    ///   - endpoint: the server that was asked for, never a name out of a certificate.
    ///   - presented: what the server sent, DER, the leaf first.
    ///   - approvals: what people have said about servers; they count in step 3 and nowhere else.
    ///   - instant: now, except in tests and for chains that were recorded.
    ///   - newestKnownTime: the latest time that is known to have passed, such as the build date or that
    ///     of the last update. It judges nothing; it only tells a wrong clock from a neglected app.
    ///   - validate: builds and checks the path. Called at most once; in step 3 up to four times, where the further calls
    ///     have the leaf as the only anchor, the last ones with ``PathRequest/accepted`` failures.
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
            TrustEvaluation(endpoint: endpoint, decision: decision, rule: rule, presented: chain, path: path)
        }
        if rule == nil, unpinnedHosts == .reject { return conclude(.rejected(.hostNotAllowed(endpoint))) }
        if rule == nil, unpinnedHosts == .askUser {
            let (decision, path) = decideByApproval(endpoint, chain, approvals, at: instant, validate: validate)
            return conclude(decision, path)
        }
        let terms = rule.map { storage.terms(of: $0.index) }
        let isExpired = terms?.areExpired(at: instant) ?? false
        let outcome = validate(
            PathRequest(
                chain: chain, host: endpoint.host, anchors: anchors(ofRule: rule?.index), instant: instant,
                pins: isExpired ? nil : terms?.pinSet, terms: terms?.terms.path ?? .none))
        switch outcome {
        case .invalid(let failure):
            return conclude(.rejected(.invalidPath(failure)))
        case .valid(let path):
            let decision = decide(
                endpoint, path: path, rule: rule, presented: chain, at: instant, newestKnownTime: newestKnownTime)
            return conclude(decision, path)
        }
    }

    /// Decides about a path that the caller's own validation has just built: steps 2 and 5 to 7 alone, and the rule's
    /// terms about the path.
    ///
    /// For stacks whose validation cannot be asked for another path. Under `askUser` a host without a
    /// rule is `unknown-host` here: see ``decide(_:path:approvals:at:)``.
    public func decide(_ endpoint: ServerEndpoint, path: ValidatedPath, at instant: Date) -> TrustDecision {
        guard let match = storage.table.match(endpoint) else {
            switch unpinnedHosts {
            case .systemTrust: return .trusted(.hostNotPinned)
            case .reject: return .rejected(.hostNotAllowed(endpoint))
            case .askUser: return decideByApproval(endpoint, path, .none, at: instant)
            }
        }
        if let decision = storage.settled(rule: match.rule, path, at: instant) { return decision }
        return decide(
            endpoint, path: path, rule: storage.choice(match), presented: nil, at: instant, newestKnownTime: nil)
    }

    /// The same with what people have said about servers that no rule covers.
    ///
    /// The path is a valid one: what an approval forgives is not there to be forgiven.
    public func decide(
        _ endpoint: ServerEndpoint, path: ValidatedPath, approvals: TrustApprovals, at instant: Date
    ) -> TrustDecision {
        guard unpinnedHosts == .askUser, storage.table.match(endpoint) == nil else {
            return decide(endpoint, path: path, at: instant)
        }
        return decideByApproval(endpoint, path, approvals, at: instant)
    }

    /// The rule that decides for a server; `nil` where none covers it.
    public func rule(for endpoint: ServerEndpoint) -> MatchedRule? {
        storage.table.match(endpoint).map(storage.choice)
    }
}

// MARK: Steps

extension PinningPolicy {
    // What is not the good connection stays out of line, and its large values off the stack.

    /// Steps 5 to 7, after the rule's terms about the path.
    @inline(never)
    private func decide(
        _ endpoint: ServerEndpoint, path: ValidatedPath, rule: MatchedRule?, presented: PresentedChain?,
        at instant: Date, newestKnownTime: Date?
    ) -> TrustDecision {
        guard let rule else { return .trusted(.hostNotPinned) }
        if let decision = storage.settled(rule: rule.index, path, at: instant) { return decision }
        #if DEBUG
        if let debugAnchors, debugAnchors.areEnd(of: path) { return .trusted(.hostNotPinned) }
        #endif
        let compiled = storage.terms(of: rule.index)
        let terms = compiled.terms
        if !terms.path.isEmpty {
            if let unmet = terms.path.unmet(by: path) {
                return .rejected(.invalidPath(PathFailure(.other, text: unmet.description)))
            }
            if compiled.pinSet.isEmpty { return .trusted(.hostNotPinned) }
            if !compiled.areExpired(at: instant), let match = compiled.pinSet.match(path) {
                return .trusted(.pinMatched(match))
            }
        }
        if compiled.areExpired(at: instant) {
            let expiration = PinExpiration(
                endpoint: endpoint, rule: rule,
                isClockSuspicious: Self.isSuspicious(instant, newestKnownTime: newestKnownTime))
            if case .rejecting = terms.expiry { return .rejected(.pinsExpired(expiration)) }
            return .trusted(.pinsExpired(expiration))
        }
        let mismatch = PinMismatch(
            endpoint: endpoint, rule: rule, approval: nil, servedPins: path.publicKeyPins, pins: terms.pins,
            backupPins: terms.backupPins,
            nearestMiss: .find(terms, path: path, presented: presented, rule: rule, in: self))
        switch terms.enforcement {
        case .enforce: return .rejected(.pinMismatch(mismatch))
        case .reportOnly: return .trusted(.mismatchReportedOnly(mismatch))
        }
    }

    /// The roots that paths may end in.
    private func anchors(ofRule index: Int?) -> TrustAnchors {
        let place = index.map { Int(storage.rules[$0].terms) }
        #if DEBUG
        if let debugAnchors { return debugAnchors.anchors(ofTerms: place) }
        #endif
        return place.map { storage.terms[$0].terms.anchors } ?? .system
    }

    /// A clock this far ahead of everything known is reported beside the expiry.
    private static let suspiciousLead: TimeInterval = 400 * 86_400

    private static func isSuspicious(_ instant: Date, newestKnownTime: Date?) -> Bool {
        newestKnownTime.map { instant.timeIntervalSince($0) > suspiciousLead } ?? false
    }
}

extension PinningPolicy.Storage {
    @inline(__always)
    func terms(of rule: Int) -> CompiledTerms { terms[Int(rules[rule].terms)] }

    /// Steps 5 and 7 where they end well: what happens on every good connection, without allocating or
    /// counting a reference.
    @inline(__always)
    func settled(rule: Int, _ path: ValidatedPath, at instant: Date) -> TrustDecision? {
        Self.settled(terms, Int(rules[rule].terms), path, at: instant)
    }

    @inline(__always)
    private static func settled(
        _ terms: [CompiledTerms], _ place: Int, _ path: ValidatedPath, at instant: Date
    ) -> TrustDecision? {
        // A span reads where they stand: to copy terms would count references, five of them.
        let terms = terms.elementSpan
        let pins = terms[place].pinSet.entries.elementSpan
        if pins.isEmpty { return terms[place].terms.path.isEmpty ? .trusted(.hostNotPinned) : nil }
        guard !terms[place].terms.expiry.isOver(at: instant), let match = pins.match(path, terms[place].settling)
        else {
            return nil
        }
        return .trusted(.pinMatched(match))
    }

    func choice(_ match: HostTable.Match) -> MatchedRule {
        let record = table.record(at: rules[match.rule].record)
        return MatchedRule(
            index: match.rule, host: ServerName(canonical: record.host), port: record.port, isExact: match.isExact)
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
