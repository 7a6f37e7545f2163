import FoundationEssentials
import PintleTestKit
import Testing

@Suite("Tables on terminals of all widths")
struct TableWidthTests {
    private static let plan = ["plan", "\(PlanFixture.examples)/another-ca.json", "--at", "2026-11-20"]

    private func table(_ run: ToolRun) -> [Substring] {
        Array(run.lines.drop { !$0.contains("2026-12") }.prefix { !$0.isEmpty })
    }

    @Test("Names of certificates stay whole, and no line exceeds the width", arguments: [60, 80, 100, 120, 160])
    func plan(width: Int) {
        let run = ToolRun(arguments: Self.plan, terminalWidth: width)
        let table = table(run).map { $0.replacing("\u{1B}[31m", with: "").replacing("\u{1B}[0m", with: "") }
        #expect(table.allSatisfy { $0.count <= width }, "\(table)")
        #expect(table.count > 1 && table[1].hasPrefix("api.example.com  authority A  "))
        #expect(!run.output.contains("…"))
    }

    @Test("A name that is longer than its column has a line of its own, and a shorter one has its cells behind it")
    func longName() throws {
        let directory = try TemporaryDirectory()
        let name = "a-very-long-name-of-a-server.service.example.com"
        for (host, isLong) in [("api.example.com", false), (name, true)] {
            let plan = PlanFixture().text.replacing("api.example.com", with: host)
            let run = ToolRun("plan", try directory.write(plan, to: "plan.json"), "--at", "2026-11-20")
            let rows = Array(table(run).dropFirst())
            #expect(rows.first?.hasPrefix(host) == true)
            #expect((rows.first.map(String.init) == host) == isLong)
            #expect(rows.dropFirst(isLong ? 1 : 0).first?.contains(" before ") == true)
            #expect(!run.output.contains("u{A}"))
        }
    }

    @Test("A table uses up to 160 columns of a terminal, and prose up to 100")
    func limits() {
        let (wide, wider) = (
            ToolRun(arguments: Self.plan, terminalWidth: 160), ToolRun(arguments: Self.plan, terminalWidth: 300)
        )
        #expect(wide.output == wider.output)
        #expect(table(wide).map(\.count).max() ?? 0 > 100)
        let prose = wide.output.replacing("\u{1B}[31m", with: "").replacing("\u{1B}[0m", with: "")
            .split(separator: "\n").drop { !$0.hasPrefix("LOCKED OUT   from") }
        #expect(!prose.isEmpty && prose.allSatisfy { $0.count <= 100 })
    }

    @Test("COLUMNS overrides the terminal's own width; 0 counts as not set; a pipe has 80 columns")
    func columns() {
        func run(_ columns: String, terminal: Int?) -> String {
            ToolRun(
                arguments: Self.plan, environment: ["LANG": "C.UTF-8", "COLUMNS": columns, "NO_COLOR": "1"],
                terminalWidth: terminal
            ).output
        }
        #expect(run("120", terminal: 80) == run("", terminal: 120))
        #expect(run("0", terminal: 120) == run("", terminal: 120))
        #expect(run("120", terminal: 80) != run("", terminal: 80))
        #expect(run("160", terminal: nil) == run("", terminal: 80))
    }

    @Test(
        "A message that does not fit moves to an indented line, and pins and hosts stay whole",
        arguments: [60, 80, 120])
    func audit(width: Int) throws {
        let directory = try TemporaryDirectory()
        let host = "a-long-name-of-a-server.service.example.com"
        let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
        let results = try directory.write(
            """
            {"host": "\(host)", "port": 443, "at": "2027-01-15T08:00:00Z", "decision": "rejected", \
            "reason": "pin-mismatch", "problems": [{"id": "x", "severity": "error", "message": "it shows \(pin)"}]}
            {"host": "b.test", "port": 443, "at": "2027-01-15T08:00:00Z", \
            "error": {"code": "closed", "message": "short"}}

            """, to: "results.ndjson")
        let run = ToolRun(
            arguments: ["report", results], environment: ["NO_COLOR": "1"], terminalWidth: width)
        let lines = run.lines.map(String.init)
        #expect(lines[0] == "REJECTED     pin-mismatch                \(host):443")
        #expect(lines[1].hasPrefix("    it shows") && run.output.contains(pin))
        #expect(lines.contains("NOT REACHED  closed                      b.test:443  short"))
        let piped = ToolRun(arguments: ["report", results]).lines.first.map(String.init)
        #expect(piped == lines[0] + "  it shows \(pin)", "a pipe gets a line for each server")
    }
}
