#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the decision asks path validation for.
public struct PathRequest: Sendable {
    /// The certificates that the server sent.
    public let chain: PresentedChain
    /// The name that the leaf must be for.
    public let host: ServerName
    /// The roots that the path may end in.
    public let anchors: TrustAnchors
    /// When every certificate of the path must be valid.
    public let instant: Date
    /// The pins that still hold; `nil` where there are none.
    let pins: PinSet?
    /// The rule's demands on the path, beside its pins.
    var terms = PathTerms.none
    /// The failures that a person has accepted for the leaf, which is the only anchor then: with `nameMismatch` the
    /// leaf may be for another name, with `expired` its last day may have passed. Empty in every other request. A
    /// validator that ignores this refuses more, never less.
    public internal(set) var accepted: Set<TrustApproval.AcceptedFailure> = []

    /// Returns whether a person has accepted a failure of this kind.
    public func accepts(_ code: PathFailure.Code) -> Bool {
        TrustApproval.AcceptedFailure(code).map(accepted.contains) ?? false
    }

    /// Whether the decision is content with this path. Where several valid paths exist, as cross-signing
    /// makes them, one that satisfies it is to be preferred.
    public func isSatisfied(by path: ValidatedPath) -> Bool {
        guard meetsTerms(path) else { return false }
        guard let pins, !pins.isEmpty else { return true }
        return pins.match(path) != nil
    }

    /// Returns whether a path meets the rule's terms about its length and the leaf's issuer. Where no path satisfies the
    /// request, one that meets the terms is to be preferred: another is refused.
    public func meetsTerms(_ path: ValidatedPath) -> Bool {
        terms.isEmpty || terms.unmet(by: path) == nil
    }
}

/// What path validation answers.
public enum PathOutcome: Sendable {
    /// A path that satisfies the request; or, where none does, one that meets the rule's terms; or else any valid one.
    case valid(ValidatedPath)
    /// There is no valid path; of all that was tried, this came closest.
    case invalid(PathFailure)
}
