#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a rule asks for, apart from the host it is for.
struct RuleTerms: Sendable {
    /// Everything that makes two rules ask for the same.
    struct Key: Sendable, Hashable {
        let pins: [Pin]
        let backupPins: [Pin]
        let backupRequirement: BackupRequirement
        let requires: PinRequirement
        let expiry: PinExpiry
        let enforcement: Enforcement
        let anchors: TrustAnchors
        let reportTo: [String]
        let withdraws: String?

        init(_ host: PinnedHost) {
            pins = host.pins
            backupPins = host.backupPins
            backupRequirement = host.backupRequirement
            requires = host.requires
            expiry = host.expiry
            enforcement = host.enforcement
            anchors = host.anchors
            reportTo = host.reportTo
            withdraws = host.withdraws
        }
    }

    let key: Key
    let pinSet: PinSet

    init(_ key: Key) {
        self.key = key
        pinSet = PinSet(pins: key.pins, backupPins: key.backupPins, requires: key.requires)
    }

    /// Whether the pins have passed their date (`at >= after`).
    func areExpired(at instant: Date) -> Bool {
        key.expiry.isOver(at: instant)
    }
}

extension PinExpiry {
    @inline(__always)
    func isOver(at instant: Date) -> Bool {
        date.map { instant >= $0 } ?? false
    }
}
