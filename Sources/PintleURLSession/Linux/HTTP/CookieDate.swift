internal import Pintle

/// The date of a cookie's `Expires` attribute (RFC 6265bis section 5.1.1).
///
/// Servers write such dates in many forms. So the algorithm takes the first time, day, month and year that it finds, in
/// any order, and ignores the rest, time zones included.
enum CookieDate {
    /// Returns the seconds since 1970; `nil` if the text is not a date.
    static func seconds(in text: some Sequence<UInt8>) -> Int64? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.split(whereSeparator: isDelimiter) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2)?.value {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4)?.value {
                year = found < 70 ? found + 2_000 : found < 100 ? found + 1_900 : found
            }
        }
        guard let time, let day, let month, let year, time.hour <= 23, time.minute <= 59, time.second <= 59,
            year >= 1_601, let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        return date.secondsSince1970 + Int64((time.hour * 60 + time.minute) * 60 + time.second)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a number at the start of a token. Anything but a digit may follow it.
    private static func number(
        _ token: ArraySlice<UInt8>, digits: ClosedRange<Int>
    ) -> (value: Int, rest: ArraySlice<UInt8>)? {
        let found = token.prefix { 0x30...0x39 ~= $0 }
        guard digits ~= found.count else { return nil }
        return (found.reduce(0) { $0 * 10 + Int($1 & 0x0F) }, token.dropFirst(found.count))
    }

    private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let colon = UInt8(ascii: ":")
        guard let hour = number(token, digits: 1...2), hour.rest.first == colon,
            let minute = number(hour.rest.dropFirst(), digits: 1...2), minute.rest.first == colon,
            let second = number(minute.rest.dropFirst(), digits: 1...2)
        else { return nil }
        return (hour.value, minute.value, second.value)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return months.firstIndex(of: name).map { $0 + 1 }
    }
}
