import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole

/// Metrics of an audit for Prometheus.
@Suite("Metrics of an audit")
struct AuditMetricsTests {
    private let directory: TemporaryDirectory
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let promtool = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first { access($0) }

    private static func access(_ path: String) -> Bool { (try? runProcess([path, "--version"]))?.status == 0 }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func metrics(_ lines: [String], code: ExitCode, _ options: String...) throws -> String {
        let results = try directory.write(lines.map { $0 + "\n" }.joined(), to: "results.ndjson")
        let path = directory.path(of: "pintle.prom")
        let run = ToolRun(arguments: ["report", results, "--metrics", path] + options, now: Self.now)
        #expect(run.code == code.rawValue, "\(run.errors)")
        return String(decoding: try directory.read("pintle.prom"), as: UTF8.self)
    }

    private func line(_ host: String, _ verdict: String = "\"decision\": \"trusted\", \"reason\": \"pin-matched\"")
        -> String
    {
        "{\"host\": \"\(host)\", \"port\": 443, \"at\": \"2027-01-15T08:00:00Z\", \(verdict)}"
    }

    @Test("Sums cover all servers, and the servers that need attention have series of their own")
    func sums() throws {
        let text = try metrics(
            [
                line("a.test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\""),
                line("b.test", "\"error\": {\"code\": \"connect-timeout\", \"message\": \"no answer\"}"),
                line(
                    "c.test",
                    "\"decision\": \"trusted\", \"reason\": \"pin-matched\", \"keyExchangeGroup\": \"X25519MLKEM768\", "
                        + "\"certificateEnds\": \"2027-02-01T00:00:00Z\", \"pinsEnd\": \"2028-01-01T00:00:00Z\""),
            ], code: .rejected)
        for sample in [
            "pintle_audit_servers{outcome=\"trusted\"} 1", "pintle_audit_servers{outcome=\"rejected\"} 1",
            "pintle_audit_servers{outcome=\"unreached\"} 1", "pintle_audit_reasons{reason=\"pin-matched\"} 1",
            "pintle_audit_server_failed{outcome=\"rejected\",reason=\"pin-mismatch\",server=\"a.test:443\"} 1",
            "pintle_audit_server_failed{outcome=\"unreached\",reason=\"connect-timeout\",server=\"b.test:443\"} 1",
            "pintle_audit_certificate_end_timestamp_seconds{server=\"c.test:443\"} 1801440000",
            "pintle_audit_pins_end_timestamp_seconds{server=\"c.test:443\"} 1830297600",
            "pintle_audit_last_result_timestamp_seconds 1800000000",
            "pintle_audit_written_timestamp_seconds 1800000000",
        ] {
            #expect(text.contains("\n\(sample)\n"), "\(sample) is not in \(text)")
        }
        #expect(!text.contains("hybrid"))
        let group = "\"decision\": \"trusted\", \"reason\": \"pin-matched\", \"keyExchangeGroup\": \"X25519MLKEM768\""
        let required = try metrics([line("a.test", group)], code: .fine, "--require", "hybrid")
        #expect(required.contains("\npintle_audit_hybrid_servers 1\n"))
        #expect(text.hasPrefix("# HELP pintle_audit_servers ") && text.hasSuffix("\n"))
    }

    @Test("No text in a result can end a label, and the number of series has a limit")
    func hostile() throws {
        let attack = "\\u001b[2J\\\"} 1\\npintle_audit_servers{x=\\\"\\\\"
        let text = try metrics(
            [line("a.test", "\"decision\": \"rejected\", \"reason\": \"\(attack)\"")]
                + (0..<250).map { line("h\($0).test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\"") },
            code: .rejected)
        #expect(!text.unicodeScalars.contains("\u{1B}"))
        let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(samples.count { $0.hasPrefix("pintle_audit_servers{") } == 3)
        #expect(samples.count { $0.hasPrefix("pintle_audit_server_failed{") } == 100)
        #expect(samples.contains("pintle_audit_servers{outcome=\"rejected\"} 251"))
    }

    @Test("Of many refused servers the first by name have series, in whatever order their results came")
    func firstNames() throws {
        let text = try metrics(
            (100..<250).reversed().map {
                line("h\($0).test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\"")
            },
            code: .rejected)
        let samples = text.split(separator: "\n").filter { $0.hasPrefix("pintle_audit_server_failed{") }
        #expect(
            samples
                == (100..<200).map {
                    "pintle_audit_server_failed{outcome=\"rejected\",reason=\"pin-mismatch\",server=\"h\($0).test:443\"} 1"
                })
    }

    @Test("Servers that were not reached do not take the place of a refused one")
    func outcomes() throws {
        let text = try metrics(
            (0..<150).map { line("a\($0).test", "\"error\": {\"code\": \"connect-timeout\", \"message\": \"\"}") }
                + [line("z.test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\"")], code: .rejected)
        let samples = text.split(separator: "\n").filter { $0.hasPrefix("pintle_audit_server_failed{") }
        #expect(samples.count { $0.contains("outcome=\"unreached\"") } == 100)
        #expect(samples.count { $0.contains("server=\"z.test:443\"") } == 1)
    }

    @Test("The place that was connected to is a label of its own, so that one name has a series for each place")
    func connectTo() throws {
        let refused = "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\""
        let text = try metrics(
            [line("a.test", refused)]
                + [8_001, 8_002].map { line("a.test", "\"connectTo\": \"127.0.0.1:\($0)\", \(refused)") },
            code: .rejected)
        let labels = "outcome=\"rejected\",reason=\"pin-mismatch\",server=\"a.test:443\"} 1"
        let samples = text.split(separator: "\n").filter { $0.hasPrefix("pintle_audit_server_failed{") }
        #expect(
            samples == [
                "pintle_audit_server_failed{\(labels)",
                "pintle_audit_server_failed{connect_to=\"127.0.0.1:8001\",\(labels)",
                "pintle_audit_server_failed{connect_to=\"127.0.0.1:8002\",\(labels)",
            ])
    }

    @Test("The first ends are found among many, the earliest first")
    func firstEnds() throws {
        let text = try metrics(
            (0..<5_000).map { number in
                let date = RFC3339.string(from: Self.now + Double((number * 7_919) % 5_000) * 86_400)
                return line(
                    "h\(number).test",
                    "\"decision\": \"trusted\", \"reason\": \"pin-matched\", \"certificateEnds\": \"\(date)\"")
            }, code: .fine)
        let ends = text.split(separator: "\n").filter {
            $0.hasPrefix("pintle_audit_certificate_end_timestamp_seconds{")
        }
        .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(ends == (0..<100).map { 1_800_000_000 + $0 * 86_400 })
    }

    @Test("Metrics need results in a file, and never replace an input")
    func usage() throws {
        let path = directory.path(of: "pintle.prom")
        #expect(ToolRun("audit", "a.test", "--metrics", path).code == 2)
        let results = try directory.write(line("a.test") + "\n", to: "results.ndjson")
        let run = ToolRun("report", results, "--metrics", results)
        #expect(run.code == 2 && run.errors.contains("would replace"), "\(run.errors)")
        #expect(try directory.read("results.ndjson") == Array((line("a.test") + "\n").utf8))
    }

    @Test(
        "promtool accepts the metrics and the alert rules of Examples, whose tests pass",
        .enabled(if: promtool != nil, "skipped: promtool is missing: apt-get install prometheus"))
    func promtoolAccepts() throws {
        let promtool = try #require(Self.promtool)
        let text = try metrics(
            [line("a.test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\"")], code: .rejected)
        let check = try runProcess([promtool, "check", "metrics"], input: Array(text.utf8))
        #expect(check.status == 0 && check.errorOutput.isEmpty, "\(check.errorOutput)")
        let broken = try runProcess([promtool, "check", "metrics"], input: Array("# TYPE a nothing\na 1\n".utf8))
        #expect(broken.status != 0)
        let rules = Recipes.root + "/Examples/prometheus/pintle.rules"
        for arguments in [["check", "rules", rules + ".yml"], ["test", "rules", rules + ".test.yml"]] {
            let run = try runProcess([promtool] + arguments)
            #expect(run.status == 0, "\(run.output) \(run.errorOutput)")
        }
    }
}
