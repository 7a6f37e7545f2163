#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The terms of a rule, with its pins as connections compare them.
struct CompiledTerms: Sendable {
    let terms: HostTerms
    let pinSet: PinSet
    /// How the pins match where a connection is settled at once: never, where the path has terms to meet first. So rules
    /// without such terms, which is most of them, pay nothing for the check.
    let settling: PinSet.Terms

    init(_ terms: HostTerms) {
        self.terms = terms
        pinSet = PinSet(pins: terms.pins, backupPins: terms.backupPins, requires: terms.requires)
        settling = terms.path.isEmpty ? pinSet.terms : pinSet.terms.matchingNothing
    }

    /// Returns whether the pins have passed their date (`at >= after`).
    func areExpired(at instant: Date) -> Bool {
        terms.expiry.isOver(at: instant)
    }
}
