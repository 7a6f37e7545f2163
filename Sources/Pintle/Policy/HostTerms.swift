#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The requirements of a rule, without its host.
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
    /// The requirements on the path, apart from the pins.
    package var path = PathTerms.none

    var pinSet: PinSet { PinSet(pins: pins, backupPins: backupPins, requires: requires) }
}

extension HostTerms {
    /// The terms of a rule that requires only a valid path.
    package static let none = HostTerms()
}

/// The consequence if no pin matches.
public enum Enforcement: String, Sendable, Hashable, CaseIterable {
    /// The connection is refused.
    case enforce
    /// The connection goes on, and the mismatch is reported.
    case reportOnly
}

/// The pins of a rule that must match.
public enum PinRequirement: String, Sendable, Hashable, CaseIterable {
    /// Any one pin.
    case anyPin
    /// One pin at ``PinPosition/leaf`` and one at ``PinPosition/ca``.
    case leafAndCA
}

/// The expiry of a rule's pins. An expiry date prevents an app that is never updated from being locked out forever.
public enum PinExpiry: Sendable, Hashable {
    /// The pins do not expire.
    case never
    /// From this instant on (`at >= after`), path validation decides without the pins.
    case systemTrust(after: Date)
    /// From this instant on, all connections are refused.
    case rejecting(after: Date)

    /// The expiry date; `nil` for never.
    public var date: Date? {
        switch self {
        case .never: nil
        case .systemTrust(let date), .rejecting(let date): date
        }
    }
}

/// The requirement of a backup pin: the pin of a key that is not in use yet and is kept offline. Without a backup,
/// losing the key locks out every installed app.
public enum BackupRequirement: Sendable, Hashable {
    /// A rule that enforces pins without a backup pin is an error.
    case required
    /// The author accepts the risk of having no backup.
    case noneAccepted
}

extension PinExpiry {
    func isOver(at instant: Date) -> Bool {
        date.map { instant >= $0 } ?? false
    }
}
