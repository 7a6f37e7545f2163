#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A parser and writer of RFC 3339 timestamps (section 5.6), `2027-11-20T00:00:00Z` or `2027-11-20T01:00:00+01:00`. It
/// is strict: four-digit years, always a zone, only days that exist, nothing before or after.
///
/// The parser accepts up to nine digits of a second's fraction (`Date` keeps about seven) and, as the RFC allows,
/// lower-case `t` and `z`. It refuses a leap second (`:60`): `Date` cannot represent one, and readers would disagree
/// about which neighbouring second it means.
package enum RFC3339 {
    package struct ParsingError: Error, Sendable, Equatable {
        /// The reason on one line, in lower case and without a full stop.
        package let message: String
        package let hint: String

        private init(_ message: String, hint: String = "write it like 2027-11-20T00:00:00Z") {
            (self.message, self.hint) = (message, hint)
        }

        /// The text has another form, such as a date without a time, blanks, or letters after the end.
        package static let malformed = Self("not a date as RFC 3339 writes it")
        package static let missingZone = Self(
            "a date without a time zone", hint: "add Z for UTC, or an offset such as +01:00")
        package static let noSuchDay = Self("a day that does not exist")
        package static let noSuchTime = Self("a time of day that does not exist")
        package static let leapSecond = Self(
            "a leap second", hint: "write the second before it, or the one after")
        package static let fractionTooLong = Self("more than nine digits of a second")
        package static let noSuchOffset = Self("a time zone offset that does not exist")
    }

    package static func date(from text: some StringProtocol) throws(ParsingError) -> Date {
        var scanner = Scanner(Array(text.utf8))
        return try scanner.parse()
    }

    /// Formats a date in UTC with `Z` and whole seconds. Fractions are rounded down. A date outside the years 0 to 9999
    /// is written as the nearest one inside.
    package static func string(from date: Date) -> String {
        let earliest = -62_167_219_200.0
        let latest = 253_402_300_799.0
        let interval = date.timeIntervalSince1970
        let seconds = Int64(interval.isNaN ? earliest : min(max(interval.rounded(.down), earliest), latest))
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = Int(seconds - days * 86_400)
        guard let day = CivilDate(daysSince1970: Int(days)) else { return "9999-12-31T23:59:59Z" }
        let month = padded(day.month) + "-" + padded(day.day)
        let clock = padded(time / 3600) + ":" + padded(time / 60 % 60) + ":" + padded(time % 60)
        return padded(day.year, to: 4) + "-" + month + "T" + clock + "Z"
    }

    private static func padded(_ number: Int, to width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) {
        rest = text[...]
    }

    mutating func parse() throws(RFC3339.ParsingError) -> Date {
        let (year, month, day) = (try digits(4, then: "-"), try digits(2, then: "-"), try digits(2))
        guard skip("T") || skip("t") else { throw .malformed }
        let (hour, minute, second) = (try digits(2, then: ":"), try digits(2, then: ":"), try digits(2))
        let fraction = try fraction()
        let offset = try offset()
        guard rest.isEmpty else { throw .malformed }

        guard let date = CivilDate(year: year, month: month, day: day) else { throw .noSuchDay }
        guard hour < 24, minute < 60, second < 61 else { throw .noSuchTime }
        guard second < 60 else { throw .leapSecond }
        let seconds = date.secondsSince1970 + Int64(hour * 3600 + minute * 60 + second - offset)
        // Compute relative to 2001, as `Date` does internally, so that the fraction keeps its precision.
        return Date(timeIntervalSinceReferenceDate: Double(seconds - 978_307_200) + fraction)
    }

    private mutating func digits(_ count: Int, then separator: Unicode.Scalar? = nil) throws(RFC3339.ParsingError)
        -> Int
    {
        var number = 0
        for _ in 0..<count {
            guard let digit = digit() else { throw .malformed }
            number = number * 10 + digit
        }
        if let separator, !skip(separator) { throw .malformed }
        return number
    }

    private mutating func fraction() throws(RFC3339.ParsingError) -> Double {
        guard skip(".") else { return 0 }
        var (number, scale, count) = (0, 1, 0)
        while let digit = digit() {
            count += 1
            guard count <= 9 else { throw .fractionTooLong }
            number = number * 10 + digit
            scale *= 10
        }
        guard count > 0 else { throw .malformed }
        return Double(number) / Double(scale)
    }

    /// Parses the zone and returns its offset in seconds east of UTC.
    private mutating func offset() throws(RFC3339.ParsingError) -> Int {
        if skip("Z") || skip("z") { return 0 }
        guard !rest.isEmpty else { throw .missingZone }
        let isWest = skip("-")
        guard isWest || skip("+") else { throw .malformed }
        let (hours, minutes) = (try digits(2, then: ":"), try digits(2))
        guard hours < 24, minutes < 60 else { throw .noSuchOffset }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private mutating func digit() -> Int? {
        guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        rest.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == scalar.value else { return false }
        rest.removeFirst()
        return true
    }
}
