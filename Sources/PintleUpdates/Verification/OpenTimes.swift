internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// When a rule trusts every valid path, whether or not a pin matches (steps 5 to 7 of the decision).
enum OpenTimes {
    case always
    /// Up to the date: a rule that only reports, whose expired pins are refused.
    case before(Date)
    /// From the date on: enforced pins that give way to the system's trust.
    case from(Date)
    case never

    init(_ rule: PinnedHost) {
        guard !rule.pins.isEmpty else {
            self = .always
            return
        }
        switch (rule.enforcement, rule.expiry) {
        case (.enforce, .never), (.enforce, .rejecting): self = .never
        case (.enforce, .systemTrust(let date)): self = .from(date)
        case (.reportOnly, .never), (.reportOnly, .systemTrust): self = .always
        case (.reportOnly, .rejecting(let date)): self = .before(date)
        }
    }

    /// Returns whether there is no instant that is in these times and not in the others. A written date has no fraction of a
    /// second, and one that was made in Swift may have one.
    func isWithin(_ other: OpenTimes) -> Bool {
        switch (self, other) {
        case (.never, _), (_, .always): true
        case (.before(let own), .before(let other)): own <= other
        case (.from(let own), .from(let other)):
            own.timeIntervalSince1970 >= other.timeIntervalSince1970.rounded(.down)
        default: false
        }
    }
}
