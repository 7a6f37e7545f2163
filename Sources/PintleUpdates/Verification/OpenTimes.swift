internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The times at which a rule trusts every valid path, whether or not a pin matches (steps 5 to 7 of the decision).
enum OpenTimes {
    case always
    /// Until the date: a report-only rule that refuses the server once its pins have expired.
    case before(Date)
    /// From the date on: enforced pins that fall back to system trust when they expire.
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

    /// Returns whether these times are a subset of the others. Dates are compared in whole seconds, because a date that
    /// was written to a file has no fraction, while a date that was made in Swift may have one.
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
