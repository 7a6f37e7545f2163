#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An instant in a certificate's validity.
public enum CertificateTime: Sendable, Hashable {
    /// A date in whole seconds: UTCTime from 1950 to 2049, GeneralizedTime before and after (RFC 5280 section 4.1.2.5).
    case date(Date)
    /// A UTCTime with this text, valid or not.
    case utcTime(String)
    /// A GeneralizedTime with this text, valid or not.
    case generalizedTime(String)
    /// The bytes of a whole element.
    case raw([UInt8])

    /// Returns a time relative to the present second.
    ///
    /// - Parameter seconds: the distance; negative for the past.
    public static func fromNow(seconds: Int) -> CertificateTime { fromNow(Double(seconds)) }

    /// Returns a time relative to the present second.
    ///
    /// - Parameter days: the distance in days of 86,400 seconds; negative for the past.
    public static func fromNow(days: Int) -> CertificateTime { fromNow(Double(days) * 86_400) }

    private static func fromNow(_ seconds: Double) -> CertificateTime {
        .date(Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) + seconds))
    }

    func write(to der: inout DERWriter) {
        switch self {
        case .date(let date):
            let time = CivilTime(secondsSince1970: date.timeIntervalSince1970)
            if (1950...2049).contains(time.year) {
                der.utcTime(time.text(yearDigits: 2))
            } else {
                der.generalizedTime(time.text(yearDigits: 4))
            }
        case .utcTime(let text): der.utcTime(text)
        case .generalizedTime(let text): der.generalizedTime(text)
        case .raw(let bytes): der.raw(bytes)
        }
    }
}

/// A second in the proleptic Gregorian calendar, UTC. The module imports only FoundationEssentials, which has no
/// formatters for these types.
struct CivilTime {
    // The Int of some watches has 32 bits.
    let year: Int64
    let month: Int64
    let day: Int64
    let secondOfDay: Int64

    init(secondsSince1970: Double) {
        // The years 0 to 9999, the range of GeneralizedTime. NaN becomes 1970.
        let known = secondsSince1970.isNaN ? 0 : secondsSince1970.rounded(.down)
        let seconds = Int64(min(max(known, -62_167_219_200), 253_402_300_799))
        let days = seconds >= 0 ? seconds / 86_400 : -((-seconds + 86_399) / 86_400)
        secondOfDay = seconds - days * 86_400
        // Counted from 1 March of year 0, so that the leap day ends the year; 146,097 days are
        // 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    func text(yearDigits: Int) -> String {
        let fields = [month, day, secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60]
        let yearText = CivilTime.padded(yearDigits == 2 ? year % 100 : year, to: yearDigits)
        return yearText + fields.map { CivilTime.padded($0, to: 2) }.joined() + "Z"
    }

    private static func padded(_ number: Int64, to digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
