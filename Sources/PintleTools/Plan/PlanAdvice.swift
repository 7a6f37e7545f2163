internal import FoundationEssentials
internal import Pintle

/// An item of advice.
struct PlanAdvice {
    enum Kind: String, CaseIterable {
        case addPin = "add-pin"
        case reach = "reach"
        case holdBack = "hold-back"
        case useKnownKey = "use-known-key"
        case switchLater = "switch-later"
        case noLaterSwitch = "no-later-switch"
        case publishUpdate = "publish-update"
        case noUpdate = "no-update"
        case keepPin = "keep-pin"
        case renew = "renew"
        case serveLater = "serve-later"
        case trustRoot = "trust-root"
        case laterExpiry = "later-expiry"
        case addRule = "add-rule"
        case changeIssuer = "change-issuer"
        case withdrawPin = "withdraw-pin"
        case makeBackup = "make-backup"
    }

    let kind: Kind
    let server: Int
    /// One line, lower case, no full stop.
    let text: String
    /// The last day for it; where a stolen key is to be left out, the first.
    var by: Date?
    var pin: PublicKeyPin?
    /// The share of users that must be reached by then.
    var share: UserShare?
    /// The versions that the advice is for.
    var apps: [Int] = []
}
