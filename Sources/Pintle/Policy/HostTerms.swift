#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The demands of a rule, apart from the host it is for.
package struct HostTerms: Sendable, Hashable {
    package var pins: [Pin] = []
    package var backupPins: [Pin] = []
    package var backupRequirement = BackupRequirement.required
    package var requires = PinRequirement.anyPin
    package var expiry = PinExpiry.never
    package var enforcement = Enforcement.enforce
    package var anchors = TrustAnchors.system
    package var reportTo: [String] = []
    package var withdrawalReason: String?
    /// The demands on the path, beside the pins.
    package var path = PathTerms.none

    /// Hashes every term. Terms that most rules leave at their default are packed into one integer.
    package func hash(into hasher: inout Hasher) {
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
        if let withdrawalReason { hasher.combine(withdrawalReason) }
        if !path.isEmpty { hasher.combine(path) }
    }
}

extension HostTerms {
    /// The terms of a rule that demands nothing beside a valid path. Inside of this module the compiler's own initializer
    /// takes each term; one that is written out copies the whole value once more.
    package static let none = HostTerms()
}

/// The consequence of a served key that is not pinned.
public enum Enforcement: String, Sendable, Hashable, CaseIterable {
    /// The connection is refused.
    case enforce
    /// The connection goes on, and the mismatch is reported.
    case reportOnly
}

/// Which of a rule's pins have to match.
public enum PinRequirement: String, Sendable, Hashable, CaseIterable {
    /// One of them.
    case anyPin
    /// One that says ``PinPosition/leaf`` and one that says ``PinPosition/ca``.
    case leafAndCA
}

/// The end of a rule's pins. A date keeps an app that is never updated from being locked out for good.
public enum PinExpiry: Sendable, Hashable {
    /// They hold for good.
    case never
    /// From this instant on (`at >= after`) only the path's validation decides.
    case systemTrust(after: Date)
    /// From this instant on nothing is accepted.
    case rejecting(after: Date)

    /// The instant; `nil` for never.
    public var date: Date? {
        switch self {
        case .never: nil
        case .systemTrust(let date), .rejecting(let date): date
        }
    }
}

/// The demand for a backup pin: that of a key which is not in use yet and is kept offline. Without it, a lost key locks every
/// installed app out.
public enum BackupRequirement: Sendable, Hashable {
    /// Enforced pins without a backup are a problem of the policy.
    case required
    /// The author accepts the risk.
    case noneAccepted
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
