import FoundationEssentials
import Pintle
import PintleAttacks
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintleTools

@Suite("Pages of reports")
struct ReportPageTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func page(_ arguments: [String], isFine: Bool = false) throws -> String {
        let run = ToolRun(arguments: arguments)
        #expect(run.code == (isFine ? 0 : 1), "\(run.errors)")
        return String(decoding: try directory.read("page.html"), as: UTF8.self)
    }

    private func plan(_ name: String, isFine: Bool = false) throws -> String {
        let file = "\(PlanFixture.examples)/\(name).json"
        return try page(
            ["plan", file, "--at", "2026-11-20", "--html", directory.path(of: "page.html")], isFine: isFine)
    }

    private func audit(_ verdicts: [String], isFine: Bool = false) throws -> String {
        let lines = verdicts.enumerated().map { index, verdict in
            "{\"host\": \"h\(index).test\", \"port\": 443, \"at\": \"2027-01-15T08:00:00Z\", \(verdict)}\n"
        }
        let results = try directory.write(lines.joined(), to: "results.ndjson")
        return try page(["report", results, "--html", directory.path(of: "page.html")], isFine: isFine)
    }

    private func rehearsal(_ attacks: String, isFine: Bool = false) throws -> String {
        try page(
            RehearseTests.rehearse + ["--only", attacks, "--html", directory.path(of: "page.html"), "--"]
                + RehearseTests.curl + ["{url}"], isFine: isFine)
    }

    private static let trusted = "\"decision\": \"trusted\", \"reason\": \"pin-matched\""
    private static let warned =
        "\(trusted), \"problems\": [{\"id\": \"live-certificate-ends\", \"severity\": \"warning\", \"message\": \"m\"}]"
    private static let rejected = "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\""

    @Test("The title and the heading of a page are the result")
    func result() throws {
        let pages = [
            (try plan("another-ca"), "Version 3.0 cannot connect to api.example.com"),
            (try plan("another-ca-followed", isFine: true), "No simulated version is locked out"),
            (try audit([Self.trusted, Self.rejected, Self.rejected]), "2 of 3 servers have problems"),
            (try audit([Self.trusted, Self.rejected]), "1 of 2 servers has problems"),
            (try audit([Self.warned, Self.rejected]), "1 of 2 servers has problems, 1 more has warnings"),
            (try audit([Self.trusted, Self.trusted], isFine: true), "All 2 servers are trusted"),
            (try rehearsal("trusted-interceptor,expired"), "1 of 2 attacks was let through; 37 others were not chosen"),
            (
                try rehearsal("wrong-host,expired", isFine: true),
                "All 2 attacks ended as they must; 37 others were not chosen"
            ),
        ]
        for (page, result) in pages {
            #expect(page.contains("<title>\(result)</title>"), "\(page.prefix(2_000))")
            #expect(page.contains("<h1>\(result)</h1>"))
        }
    }

    @Test("All pages share one style sheet, and a browser may apply only the style that the page names by its hash")
    func styleSheet() throws {
        for page in [try plan("old-app"), try audit([Self.rejected]), try rehearsal("trusted-interceptor")] {
            let parts = page.split(separator: "<style>", maxSplits: 1)
            let sheet = try #require(parts.last?.split(separator: "</style>", maxSplits: 1).first)
            #expect(sheet.contains(ReportStyle.sheet))
            let hash = try runProcess(
                ["bash", "-c", "openssl dgst -sha256 -binary | base64"], input: Array(sheet.utf8)
            ).output.filter { !$0.isWhitespace }
            #expect(page.contains("default-src 'none'; style-src 'sha256-\(hash)'"))
            #expect(page.contains("base-uri 'none'; form-action 'none'"))
            #expect(!page.contains("unsafe-inline") && !page.contains(" style="))
            for outside in ["http://", "https://", "url(h", "@import", "src=", "href="] {
                #expect(!page.contains(outside), "\(outside)")
            }
        }
    }

    @Test("Each kind of result has its own sentence, the worst first")
    func tallies() throws {
        func sentence(_ verdicts: [(Outcome.Verdict, Scenario.Expectation)]) throws -> String {
            let catalogue = try Catalogue()
            let outcomes = verdicts.map { verdict, expectation in
                Outcome(
                    expectation == .accepted ? catalogue.control : catalogue["expired"] ?? catalogue.control, verdict)
            }
            return RehearsalTally(outcomes, plainHostCount: 0).result
        }
        #expect(
            try sentence([(.letThrough, .refused), (.letThrough, .refused), (.blocked, .accepted)])
                == "2 of 3 attacks were let through")
        #expect(
            try sentence([(.blocked, .accepted), (.inconclusive, .refused)])
                == "1 server that must be accepted was blocked")
        #expect(try sentence([(.held, .refused), (.blocked, .accepted)]) == "1 attack held the client")
        #expect(try sentence([(.inconclusive, .refused), (.blocked, .refused)]) == "1 of 2 attacks was inconclusive")
        #expect(try sentence([(.blocked, .refused), (.notRun, .refused)]) == "The attack ended as it must")
        #expect(RehearsalTally([], plainHostCount: 1).result == "1 host got plain HTTP")
    }
}
