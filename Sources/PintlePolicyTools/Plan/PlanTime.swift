internal import Pintle
package import PintleSystem

extension Date {
    /// The whole seconds since 1970, clamped to a range that holds every date the readers accept.
    package var wholeSeconds: Int {
        let seconds = timeIntervalSince1970.rounded(.down)
        return seconds.isFinite ? Int(min(max(seconds, -1e12), 1e12)) : 0
    }

    package init(wholeSeconds: Int) { self.init(timeIntervalSince1970: Double(wholeSeconds)) }

    /// The first instant of the day in UTC.
    package var startOfDay: Date { Date(wholeSeconds: (wholeSeconds - (wholeSeconds % 86_400 + 86_400) % 86_400)) }

    package func addingDays(_ days: Int) -> Date { Date(wholeSeconds: wholeSeconds + days * 86_400) }
}

/// Formats the instants of a plan for people.
enum PlanTime {
    /// Returns `2027-03-01`, with the time unless it is midnight: `2027-03-01 06:00 UTC`
    static func text(_ date: Date) -> String {
        let text = RFC3339.string(from: date)
        let time = text.dropFirst(11).prefix(5)
        return time == "00:00" ? String(text.prefix(10)) : "\(text.prefix(10)) \(time) UTC"
    }
}
