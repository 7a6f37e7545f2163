internal import Pintle
internal import PintleSystem

/// The meaning of an answer for a report and its address.
enum ReportOutcome: Sendable, Equatable {
    /// The address accepted the report (2xx).
    case delivered
    /// The address accepts no more reports (410).
    case gone
    /// The report itself is wrong, so that a retry would fail too (400, 413, 415, 422).
    case refused
    /// The report was not sent, because it cannot be shortened to the limit of a request.
    case tooLarge
    /// Any other answer, or none: retry later, after at least the given number of seconds.
    case later(retryAfter: Double?)

    init(_ response: ReportResponse?, at now: Date) {
        switch response?.status {
        case .some(200...299): self = .delivered
        case .some(410): self = .gone
        case .some(400), .some(413), .some(415), .some(422): self = .refused
        default: self = .later(retryAfter: response?.retryAfter.flatMap { RetryAfter.seconds($0, at: now) })
        }
    }
}

/// Parses the value of `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date in one of the three forms that a
/// recipient must accept (section 5.6.7).
enum RetryAfter {
    /// The longest time that is obeyed, a month.
    static let longest: Double = 30 * 86_400

    /// Returns the seconds from now, at least 0; `nil` for a value that cannot be parsed.
    static func seconds(_ text: String, at now: Date) -> Double? {
        let words = text.split(separator: " ")
        if words.count == 1, !words[0].isEmpty, words[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            return min(Double(words[0]) ?? longest, longest)
        }
        guard let date = imfDate(words) ?? rfc850Date(words, at: now) ?? asctimeDate(words) else { return nil }
        return min(max(date - now.timeIntervalSince1970, 0), longest)
    }

    // The functions below return seconds since 1970.

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func imfDate(_ words: [Substring]) -> Double? {
        guard words.count == 6, words[5] == "GMT", words[0].utf8.count == 4, words[0].hasSuffix(","),
            let day = number(words[1], digits: 2), let year = number(words[3], digits: 4)
        else { return nil }
        return instant(year, words[2], day, words[4])
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`. A year that would be more than 50 years from now is in the century
    /// before.
    private static func rfc850Date(_ words: [Substring], at now: Date) -> Double? {
        guard words.count == 4, words[3] == "GMT", words[0].utf8.count > 6, words[0].hasSuffix("day,") else {
            return nil
        }
        let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let day = number(parts[0], digits: 2), let short = number(parts[2], digits: 2),
            let this = CivilDate(daysSince1970: Int(Milliseconds(now).count / 86_400_000))?.year
        else { return nil }
        let year = this - this % 100 + short
        return instant(year > this + 50 ? year - 100 : year, parts[1], day, words[2])
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private static func asctimeDate(_ words: [Substring]) -> Double? {
        guard words.count == 5, words[0].utf8.count == 3, let year = number(words[4], digits: 4),
            let day = number(words[2], digits: words[2].utf8.count == 1 ? 1 : 2)
        else { return nil }
        return instant(year, words[1], day, words[3])
    }

    private static func instant(_ year: Int, _ month: Substring, _ day: Int, _ time: Substring) -> Double? {
        guard let month = months.firstIndex(of: String(month)),
            let date = CivilDate(year: year, month: month + 1, day: day)
        else { return nil }
        let time = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2], hour < 24, minute < 60,
            second <= 60
        else { return nil }
        return Double(date.secondsSince1970) + Double(hour * 3_600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
