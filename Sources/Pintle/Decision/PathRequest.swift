#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request to path validation, made by the decision.
public struct PathRequest: Sendable {
    /// The certificates that the server sent.
    public let chain: PresentedChain
    /// The name that the leaf must be valid for.
    public let host: ServerName
    /// The roots that the path may end at.
    public let anchors: TrustAnchors
    /// The time at which every certificate of the path must be valid.
    public let instant: Date
    /// The pins that have not expired; `nil` if there are none.
    let pins: PinSet?
    /// The rule's requirements on the path, apart from its pins.
    var terms = PathTerms()
    /// The failures that the user has accepted for the leaf. In such a request the leaf is the only anchor. With
    /// `nameMismatch` the leaf may be for another name; with `expired` it may have expired. Empty in all other
    /// requests. A validator that ignores this property refuses more servers, never fewer.
    public internal(set) var accepted: Set<TrustApproval.AcceptedFailure> = []

    /// Returns whether the user has accepted a failure of this kind.
    public func accepts(_ code: PathFailure.Code) -> Bool {
        TrustApproval.AcceptedFailure(code).map(accepted.contains) ?? false
    }

    /// Returns whether the path meets the rule's terms and matches its pins, if it has any that have not expired. If
    /// several valid paths exist, as with cross-signing, the validator should prefer one that satisfies the request.
    public func isSatisfied(by path: ValidatedPath) -> Bool {
        guard meetsTerms(path) else { return false }
        guard let pins, !pins.isEmpty else { return true }
        return pins.match(path) != nil
    }

    /// Returns whether a path meets the rule's terms about its length and the leaf's issuer. If no path satisfies the
    /// request, the validator should prefer one that meets the terms: the decision refuses any other.
    public func meetsTerms(_ path: ValidatedPath) -> Bool {
        terms.unmet(by: path) == nil
    }
}

/// The result of path validation.
public enum PathOutcome: Sendable {
    /// A valid path. The validator prefers one that satisfies the request, then one that meets the rule's terms, then
    /// any other.
    case valid(ValidatedPath)
    /// No valid path exists. The failure is that of the candidate that came closest.
    case invalid(PathFailure)
}
