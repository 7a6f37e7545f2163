package import Pintle
package import PintleSystem

/// Dates for people: the day, and the distance to it.
package enum ValidityText {
    /// `2026-11-20`
    package static func day(_ date: Date) -> String { String(RFC3339.string(from: date).prefix(10)) }

    /// Returns the instant from which most clients of authorities renew a certificate.
    package static func lastThird(of validity: Validity) -> Date {
        let lifetime = validity.notAfter.timeIntervalSince(validity.notBefore)
        return validity.notAfter.addingTimeInterval(-lifetime / 3)
    }

    package static func isInLastThird(_ validity: Validity, now: Date) -> Bool { now >= lastThird(of: validity) }

    /// Returns a distance in whole units, rounded down: `90 days`, `3 years`.
    package static func span(from start: Date, to end: Date) -> String {
        let seconds = max(0, end.timeIntervalSince(start))
        let days = Int(seconds / 86_400)
        return switch days {
        case 730...: counted(Int(Double(days) / 365.2425), "year")
        case 1...: counted(days, "day")
        default: counted(Int(seconds / 3_600), "hour")
        }
    }

    package static func counted(_ count: Int, _ unit: String) -> String {
        count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
    }
}
