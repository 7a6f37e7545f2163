import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("RFC 3339 dates")
struct DateTests {
    @Test(
        "A date with Z or an offset parses as the instant it names",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-20T09:17:54Z", 1_795_166_274),
            ("2026-11-20T10:17:54+01:00", 1_795_166_274), ("2026-11-19T23:47:54-09:30", 1_795_166_274),
            ("2026-11-20t09:17:54z", 1_795_166_274), ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-02-29T23:59:59Z", 1_709_251_199), ("0000-01-01T00:00:00Z", -62_167_219_200),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("2026-11-20T09:17:54-00:00", 1_795_166_274),
            ("2026-11-20T09:17:54.5Z", 1_795_166_274.5), ("2026-11-20T09:17:54.000000000Z", 1_795_166_274),
        ] as [(String, Double)])
    func accepts(_ text: String, _ seconds: Double) throws {
        #expect(try RFC3339.date(from: text).timeIntervalSince1970 == seconds)
    }

    @Test(
        "Any other text is refused with a specific reason",
        arguments: [
            ("2026-02-30T00:00:00Z", .noSuchDay), ("2026-02-29T00:00:00Z", .noSuchDay),
            ("1900-02-29T00:00:00Z", .noSuchDay), ("2026-04-31T00:00:00Z", .noSuchDay),
            ("2026-13-01T00:00:00Z", .noSuchDay), ("2026-00-01T00:00:00Z", .noSuchDay),
            ("2026-01-00T00:00:00Z", .noSuchDay), ("2026-01-01T24:00:00Z", .noSuchTime),
            ("2026-01-01T00:60:00Z", .noSuchTime), ("2026-01-01T00:00:61Z", .noSuchTime),
            ("2016-12-31T23:59:60Z", .leapSecond), ("2026-01-01T00:00:00", .missingZone),
            ("2026-01-01T00:00:00.5", .missingZone), ("2026-01-01T00:00:00Zjunk", .malformed),
            ("2026-01-01T00:00:00Z ", .malformed), (" 2026-01-01T00:00:00Z", .malformed), ("2026-01-01", .malformed),
            ("2026-01-01 00:00:00Z", .malformed), ("2026-01-01T00:00Z", .malformed), ("2026-1-1T00:00:00Z", .malformed),
            ("02026-01-01T00:00:00Z", .malformed), ("+2026-01-01T00:00:00Z", .malformed),
            ("-001-01-01T00:00:00Z", .malformed), ("20260101T000000Z", .malformed), ("", .malformed),
            ("2026-01-01T00:00:00,5Z", .malformed), ("2026-01-01T00:00:00.Z", .malformed),
            ("2026-01-01T00:00:00.1234567890Z", .fractionTooLong), ("2026-01-01T00:00:00+0100", .malformed),
            ("2026-01-01T00:00:00+01", .malformed), ("2026-01-01T00:00:00+24:00", .noSuchOffset),
            ("2026-01-01T00:00:00+00:60", .noSuchOffset), ("2026-01-01T00:00:00 Z", .malformed),
            ("2026-01-01T00:00:00Z+01:00", .malformed), ("٢٠٢٦-01-01T00:00:00Z", .malformed),
            ("1795166274", .malformed),
            ("never", .malformed),
        ] as [(String, RFC3339.ParsingError)])
    func rejects(_ text: String, _ error: RFC3339.ParsingError) {
        #expect(throws: error) { try RFC3339.date(from: text) }
    }

    @Test(
        "An instant is written in UTC with whole seconds",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (-0.5, "1969-12-31T23:59:59Z"),
            (1_795_166_274.9, "2026-11-20T09:17:54Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (253_402_300_799.5, "9999-12-31T23:59:59Z"), (1e300, "9999-12-31T23:59:59Z"),
            (-1e300, "0000-01-01T00:00:00Z"), (.nan, "0000-01-01T00:00:00Z"), (.infinity, "9999-12-31T23:59:59Z"),
        ] as [(Double, String)])
    func writes(_ seconds: Double, _ text: String) {
        #expect(RFC3339.string(from: Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test("Every day from 1899 to 2101 follows the one before it and survives a round trip")
    func everyDay() throws {
        let first = try #require(CivilDate(year: 1899, month: 1, day: 1)).daysSince1970
        let last = try #require(CivilDate(year: 2101, month: 12, day: 31)).daysSince1970
        #expect(last - first + 1 == 203 * 365 + 49)
        for day in first...last {
            let date = try #require(CivilDate(daysSince1970: day))
            #expect(date.daysSince1970 == day)
            #expect(CivilDate(year: date.year, month: date.month, day: date.day) == date)
        }
        #expect(CivilDate(daysSince1970: .min) == nil && CivilDate(daysSince1970: .max) == nil)
    }
}
