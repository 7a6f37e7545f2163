import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Certificate validity")
struct CertificateValidityTests {
    private func notAfter(_ time: [UInt8]) throws -> Date {
        var certificate = UnsignedCertificate()
        certificate.notAfter = time
        return try certificate.read().validity.notAfter
    }

    private func refusal(_ time: [UInt8]) -> DERError? {
        var certificate = UnsignedCertificate()
        certificate.notBefore = time
        let der = certificate.der
        return DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) }
    }

    @Test(
        "A UTCTime lies between 1950 and 2049",
        arguments: [
            ("500101000000Z", "1950-01-01T00:00:00Z"), ("491231235959Z", "2049-12-31T23:59:59Z"),
            ("700101000000Z", "1970-01-01T00:00:00Z"), ("000229120000Z", "2000-02-29T12:00:00Z"),
            ("261120101112Z", "2026-11-20T10:11:12Z"),
        ])
    func utcTime(_ text: String, _ date: String) throws {
        #expect(try notAfter(DERBytes.utcTime(text)) == RFC3339.date(from: date))
    }

    @Test(
        "A GeneralizedTime has four digits for the year",
        arguments: [
            ("20500101000000Z", "2050-01-01T00:00:00Z"), ("99991231235959Z", "9999-12-31T23:59:59Z"),
            ("20240229000000Z", "2024-02-29T00:00:00Z"), ("19000101000000Z", "1900-01-01T00:00:00Z"),
        ])
    func generalizedTime(_ text: String, _ date: String) throws {
        #expect(try notAfter(DERBytes.generalizedTime(text)) == RFC3339.date(from: date))
    }

    @Test(
        "A malformed or impossible UTCTime is refused",
        arguments: [
            "", "2611201011Z", "261120101112", "261120101112+0000", "261120101112-0100", "261120101112z",
            "26112010111Z", "2611201011120Z", "261120101112.5Z", "26112O101112Z", "-61120101112Z", " 61120101112Z",
            "260230000000Z", "250229000000Z", "261301000000Z", "260001000000Z", "260100000000Z", "260132000000Z",
            "260431000000Z", "261120240000Z", "261120106000Z", "261120101060Z", "20261120101112Z",
        ])
    func wrongUTCTime(_ text: String) {
        let error = refusal(DERBytes.utcTime(text))
        #expect(error?.field.description == "notBefore")
        #expect(error?.reason == .invalidValue)
    }

    @Test(
        "A malformed or impossible GeneralizedTime is refused",
        arguments: [
            "", "261120101112Z", "202611201011Z", "20261120101112", "20261120101112+0000", "20261120101112.5Z",
            "20260230000000Z", "21000229000000Z", "20261120101160Z", "20261120101112ZZ",
        ])
    func wrongGeneralizedTime(_ text: String) {
        #expect(refusal(DERBytes.generalizedTime(text))?.reason == .invalidValue)
    }

    @Test("A time of another string type and a validity without exactly two times are refused")
    func otherTypes() {
        #expect(refusal(DERBytes.utcTime("250101000000Z")) == nil)
        #expect(refusal(DERBytes.utf8("250101000000Z"))?.reason == .invalidValue)
        #expect(refusal([])?.reason == .truncated)
        let two = DERBytes.utcTime("250101000000Z") + DERBytes.utcTime("250101000000Z")
        #expect(refusal(two)?.reason == .trailingData)
    }

    @Test("The first and the last second count in full")
    func edges() throws {
        var certificate = UnsignedCertificate()
        certificate.notBefore = DERBytes.utcTime("260101000000Z")
        certificate.notAfter = DERBytes.utcTime("261231235959Z")
        let validity = try certificate.read().validity
        #expect(!validity.contains(validity.notBefore - 1))
        #expect(!validity.contains(validity.notBefore - 0.001))
        #expect(validity.contains(validity.notBefore))
        #expect(validity.contains(validity.notBefore + 0.5))
        #expect(validity.contains(validity.notAfter))
        #expect(validity.contains(validity.notAfter + 0.999))
        #expect(!validity.contains(validity.notAfter + 1))
    }

    @Test("An inverted period contains no instant, and no period contains NaN or infinity")
    func impossible() throws {
        var certificate = UnsignedCertificate()
        certificate.notBefore = DERBytes.utcTime("270101000000Z")
        certificate.notAfter = DERBytes.utcTime("260101000000Z")
        let inverted = try certificate.read().validity
        #expect(!inverted.contains(inverted.notBefore))
        #expect(!inverted.contains(inverted.notAfter))
        let usual = try UnsignedCertificate().read().validity
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(!usual.contains(Date(timeIntervalSince1970: number)))
        }
    }
}
