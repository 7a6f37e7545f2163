internal import Pintle
internal import PintleSystem

/// A share of users in thousandths of a per cent: whole numbers, so that sums are exact.
struct UserShare: Sendable, Hashable, Comparable {
    /// The share in thousandths of a per cent, 0 to 100,000.
    let units: Int

    static let none = UserShare(units: 0)
    static let all = UserShare(units: 100_000)

    init(units: Int) {
        self.units = min(max(units, 0), 100_000)
    }

    /// Parses a number from 0 to 100 with at most three decimals and no exponent, as JSON writes it: `12.4`
    init?(decimal text: some Sequence<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard parts.count <= 2, parts.joined().allSatisfy(digits.contains),
            let whole = Int(String(decoding: parts[0], as: UTF8.self)), whole <= 100
        else { return nil }
        let decimals = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : "0"
        guard (1...3).contains(decimals.count), let thousandths = Int((decimals + "00").prefix(3)),
            whole * 1_000 + thousandths <= 100_000
        else { return nil }
        self.init(units: whole * 1_000 + thousandths)
    }

    static func < (left: UserShare, right: UserShare) -> Bool { left.units < right.units }

    static func + (left: UserShare, right: UserShare) -> UserShare { UserShare(units: left.units + right.units) }

    var rest: UserShare { UserShare(units: 100_000 - units) }

    /// The share in per cent, with up to three decimals: `12.4`
    var decimal: String {
        var digits = String(units % 1_000 + 1_000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return digits.isEmpty ? "\(units / 1_000)" : "\(units / 1_000).\(digits)"
    }
}

extension UserShare: CustomStringConvertible {
    /// The share for people, with one decimal: `12.4 %`. A small share never reads as 0 %, nor nearly all users as 100
    /// %.
    var description: String {
        if units == 0 { return "0 %" }
        if units < 100 { return "under 0.1 %" }
        if units < 100_000, units > 99_900 { return "over 99.9 %" }
        let tenths = (units + 50) / 100
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}

/// A share over time: linear between the given points, constant before the first and after the last.
struct ShareCurve: Sendable {
    struct Point: Sendable {
        let at: Date
        let share: UserShare
    }

    /// The points, each later than the one before; at least one.
    let points: [Point]

    func share(at instant: Date) -> UserShare {
        guard let first = points.first, let last = points.last else { return .none }
        if instant <= first.at { return first.share }
        if instant >= last.at { return last.share }
        guard let index = points.firstIndex(where: { $0.at > instant }), index > 0 else { return last.share }
        let (left, right) = (points[index - 1], points[index])
        let whole = right.at.wholeSeconds - left.at.wholeSeconds
        guard whole > 0 else { return right.share }
        let passed = instant.wholeSeconds - left.at.wholeSeconds
        let change = right.share.units - left.share.units
        return UserShare(units: left.share.units + change * passed / whole)
    }
}

extension Date {
    /// The whole seconds since 1970, clamped to a range that holds every date the readers accept.
    var wholeSeconds: Int {
        let seconds = timeIntervalSince1970.rounded(.down)
        return seconds.isFinite ? Int(min(max(seconds, -1e12), 1e12)) : 0
    }

    init(wholeSeconds: Int) { self.init(timeIntervalSince1970: Double(wholeSeconds)) }

    /// The first instant of the day in UTC.
    var startOfDay: Date { Date(wholeSeconds: (wholeSeconds - (wholeSeconds % 86_400 + 86_400) % 86_400)) }

    func addingDays(_ days: Int) -> Date { Date(wholeSeconds: wholeSeconds + days * 86_400) }
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
