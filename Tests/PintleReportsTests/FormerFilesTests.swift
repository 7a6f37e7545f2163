import FoundationEssentials
import Testing

@testable import Pintle
@testable import PintleReports

/// The files are byte for byte those of an earlier revision.
@Suite("Spool files of an earlier revision")
struct FormerFilesTests {
    private static let report = #"""
        {"to":["https://reports.example.net/pins"],"refused":true,"report":{"date-time":"2027-01-15T08:00:00Z",\#
        "hostname":"api.example.com","port":8443,"effective-expiration-date":"2027-11-20T00:00:00Z",\#
        "include-subdomains":true,"noted-hostname":"example.com","served-certificate-chain":["served"],\#
        "validated-certificate-chain":["served","root"],\#
        "known-pins":["pin-sha256=\"bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=\""],"enforcement":"enforce",\#
        "reason":"invalid-path","path-failure":"expired","policy-version":7,"app":{"version":"1.2"}}}
        """#

    @Test("A spooled report of an earlier revision is parsed, and written with the same bytes")
    func spooledReport() throws {
        let bytes = Array(Self.report.utf8)
        let spooled = try #require(SpooledReport(json: bytes))
        #expect(spooled.addresses == ["https://reports.example.net/pins"] && spooled.isRefused)
        let report = spooled.report
        #expect(report.dateTime == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(report.hostname == "api.example.com" && report.port == 8443)
        #expect(report.effectiveExpirationDate == (try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        #expect(report.includeSubdomains && report.notedHostname == "example.com")
        #expect(report.servedCertificateChain == ["served"] && report.validatedCertificateChain == ["served", "root"])
        #expect(report.knownPins == [#"pin-sha256="bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=""#])
        #expect(report.enforcement == .enforce && report.reason == "invalid-path" && report.pathFailure == "expired")
        #expect(report.policyVersion == 7 && report.app == ["version": "1.2"])
        #expect(spooled.json == bytes)
    }

    @Test("The name of a report of an earlier revision is parsed, and written the same")
    func spoolName() throws {
        let text =
            "0123456789abcdef-0123456789abcdef0123456789abcdef-1800000000000-1800000900000-"
            + "fedcba9876543210fedcba9876543210.report"
        let name = try #require(SpoolName(text))
        #expect(name.host == "0123456789abcdef" && name.key == "0123456789abcdef0123456789abcdef")
        #expect(name.createdAt.count == 1_800_000_000_000 && name.notBefore.count == 1_800_000_900_000)
        #expect(name.id == "fedcba9876543210fedcba9876543210" && name.text == text)
    }

    private static let state = """
        {
          "draw": 250000,
          "seen": {
            "0123456789abcdef0123456789abcdef": 1800000000000
          },
          "addresses": {
            "https://reports.example.net/pins": {
              "failures": 2,
              "askedAt": 1800000000000,
              "notBefore": 1800000120000,
              "isGone": false
            }
          },
          "finished": {
            "fedcba9876543210fedcba9876543210": [
              0,
              1
            ]
          },
          "counts": {
            "delivered": 1,
            "duplicates": 2,
            "droppedForHost": 3,
            "dropped": 4,
            "refused": 5,
            "gone": 6,
            "expired": 7,
            "lost": 8
          }
        }
        """

    @Test("The state of an earlier revision is parsed, and written with the same bytes")
    func spoolState() throws {
        let bytes = Array(Self.state.utf8)
        let state = try #require(SpoolState(json: bytes))
        #expect(state.draw == 0.25 && state.seen.count == 1)
        let address = try #require(state.addresses["https://reports.example.net/pins"])
        #expect(address.failures == 2 && address.notBefore.count - address.askedAt.count == 120_000)
        #expect(!address.isGone)
        #expect(state.finished == ["fedcba9876543210fedcba9876543210": [0, 1]])
        let counts = state.counts
        #expect([counts.delivered, counts.duplicates, counts.droppedForHost, counts.dropped] == [1, 2, 3, 4])
        #expect([counts.refused, counts.gone, counts.expired, counts.lost] == [5, 6, 7, 8])
        #expect(state.json == bytes)
    }
}
