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
        let pathTerms: PathTerms

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
            pathTerms = host.pathTerms
        }

        /// All that may differ, but nothing for what most rules do not say: they are counted in one number.
        func hash(into hasher: inout Hasher) {
            var shape = UInt64(pins.count) << 32 | UInt64(truncatingIfNeeded: backupPins.count) << 8
            if backupRequirement == .noneAccepted { shape |= 1 }
            if requires == .leafAndCA { shape |= 2 }
            if enforcement == .reportOnly { shape |= 4 }
            if anchors.includesSystem { shape |= 8 }
            if case .rejecting = expiry { shape |= 16 }
            hasher.combine(shape)
            for pin in pins { pin.hashTerms(into: &hasher) }
            for pin in backupPins { pin.hashTerms(into: &hasher) }
            if let date = expiry.date { hasher.combine(date) }
            if !anchors.certificates.isEmpty { hasher.combine(anchors.certificates) }
            if !reportTo.isEmpty { hasher.combine(reportTo) }
            if let withdraws { hasher.combine(withdraws) }
            if !pathTerms.isEmpty { hasher.combine(pathTerms) }
        }
    }

    let key: Key
    let pinSet: PinSet
    /// How the pins match where a connection is settled at once: never, where the path has terms to meet first. So rules
    /// without such terms, which is most of them, pay nothing for the check.
    let settling: PinSet.Terms

    init(_ key: Key) {
        self.key = key
        pinSet = PinSet(pins: key.pins, backupPins: key.backupPins, requires: key.requires)
        settling = key.pathTerms.isEmpty ? pinSet.terms : pinSet.terms.matchingNothing
    }

    /// Whether the pins have passed their date (`at >= after`).
    func areExpired(at instant: Date) -> Bool {
        key.expiry.isOver(at: instant)
    }
}

extension Pin {
    /// The digest alone for a key's pin that may match anywhere, as most do.
    fileprivate func hashTerms(into hasher: inout Hasher) {
        switch subject {
        case .publicKey(let pin): hasher.combine(pin.digest)
        case .certificate(let pin):
            hasher.combine(pin.digest)
            hasher.combine(true)
        }
        if position != .any { hasher.combine(position) }
    }
}

extension PinExpiry {
    @inline(__always)
    func isOver(at instant: Date) -> Bool {
        date.map { instant >= $0 } ?? false
    }
}
