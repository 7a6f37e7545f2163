#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A rule's terms together with its pins in the form that connections compare.
struct CompiledTerms: Sendable {
    let terms: HostTerms
    let pinSet: PinSet
    /// The pin terms for the fast path. If the rule has terms about the path, they match nothing, so that the slow path
    /// checks those terms. Rules without such terms, the common case, need no additional check.
    let settling: PinSet.Terms

    init(_ terms: HostTerms) {
        self.terms = terms
        pinSet = PinSet(pins: terms.pins, backupPins: terms.backupPins, requires: terms.requires)
        settling = terms.path.isEmpty ? pinSet.terms : pinSet.terms.matchingNothing
    }

    /// Returns whether the pins have expired (`at >= after`).
    func areExpired(at instant: Date) -> Bool {
        terms.expiry.isOver(at: instant)
    }
}
