#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The period in which a certificate is valid, including both ends (RFC 5280 section 4.1.2.5).
public struct Validity: Sendable, Hashable {
    /// The first second of the period, in UTC like all dates of certificates.
    public let notBefore: Date
    /// The last second of the period. The certificate expires one second later.
    public let notAfter: Date

    /// Returns whether the instant lies in the period. Certificates have whole seconds only, so any fraction of the
    /// last second is still inside.
    public func contains(_ instant: Date) -> Bool {
        notBefore.timeIntervalSince1970 <= instant.timeIntervalSince1970.rounded(.down) && !hasEnded(at: instant)
    }

    /// Returns whether the last second of the period has passed.
    package func hasEnded(at instant: Date) -> Bool {
        notAfter.timeIntervalSince1970 < instant.timeIntervalSince1970.rounded(.down)
    }

    /// Reads only the validity of a certificate in DER that has been read before.
    package init(ofCertificate der: [UInt8]) throws(DERError) {
        try self.init(CertificateLayout(der).validity, in: der)
    }

    /// Parses `Validity ::= SEQUENCE { notBefore Time, notAfter Time }`.
    init(_ validity: DERElement, in bytes: [UInt8]) throws(DERError) {
        var reader = DERReader(contentsOf: validity)
        notBefore = try Self.time(try reader.next(in: bytes, reading: "notBefore"), in: bytes, reading: "notBefore")
        notAfter = try Self.time(try reader.next(in: bytes, reading: "notAfter"), in: bytes, reading: "notAfter")
        try reader.finish(reading: "validity")
    }

    /// Parses UTCTime `YYMMDDHHMMSSZ` (1950 to 2049) or GeneralizedTime `YYYYMMDDHHMMSSZ`. The time must end in Z, have
    /// seconds but no fractions, and be a date that exists.
    private static func time(
        _ element: DERElement, in bytes: [UInt8], reading field: StaticString
    ) throws(DERError) -> Date {
        let yearDigits: Int
        switch (element.tag, element.count) {
        case (DERTag.utcTime, 13): yearDigits = 2
        case (DERTag.generalizedTime, 15): yearDigits = 4
        default: throw DERError(.invalidValue, at: element.start, reading: field)
        }
        var year = 0
        var fields = [0, 0, 0, 0, 0]
        for offset in 0..<element.count - 1 {
            let digit = Int(bytes[element.contentStart + offset]) - 0x30
            guard 0...9 ~= digit else { throw DERError(.invalidValue, at: element.start, reading: field) }
            if offset < yearDigits {
                year = year * 10 + digit
            } else {
                let index = (offset - yearDigits) / 2
                fields[index] = fields[index] * 10 + digit
            }
        }
        guard bytes[element.end - 1] == UInt8(ascii: "Z") else {
            throw DERError(.invalidValue, at: element.start, reading: field)
        }
        if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
        guard let date = CivilDate(year: year, month: fields[0], day: fields[1]),
            fields[2] < 24, fields[3] < 60, fields[4] < 60
        else { throw DERError(.invalidValue, at: element.start, reading: field) }
        let seconds = date.secondsSince1970 + Int64(fields[2] * 3_600 + fields[3] * 60 + fields[4])
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
