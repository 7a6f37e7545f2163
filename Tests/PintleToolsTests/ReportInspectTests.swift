import FoundationEssentials
import PintleReports
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("Inspecting failure reports")
struct ReportInspectTests {
    private let directory: TemporaryDirectory
    private let identity: Identity
    private let report: TrustFailureReport

    init() throws {
        directory = try TemporaryDirectory()
        let authority = try CertificateAuthority.root(name: "Somebody's Proxy")
        identity = try authority.issue(hosts: ["example.com"])
        let policy = try PinningPolicy {
            try PinnedHost(
                "example.com", pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
                backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
        }
        let path = ValidatedPath(uncheckedLeafToAnchor: identity.chain + [authority.certificate.der])
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let evaluation = policy.evaluate(
            ServerEndpoint(host: try ServerName("example.com")), presented: identity.chain, at: now
        ) { _ in .valid(path) }
        let failure = try #require(VerdictEvent(evaluation, by: policy, at: now))
        report = try #require(TrustFailureReport(failure, app: ["name": "Mail\u{1B}[31m"]))
    }

    @Test(
        "Inspect shows a report in each of its encodings, with the pins of the served certificates",
        arguments: ReportEncoding.allCases)
    func shown(encoding: ReportEncoding) throws {
        let body = try #require(
            encoding.body(of: report, id: String(repeating: "0", count: 32), age: 5, isRefused: true))
        let path = try directory.write(body, to: "report.json")
        let run = ToolRun("inspect", path)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("1 failure report; nothing was verified"))
        #expect(
            run.output.contains("what         pin-mismatch\n")
                && run.output.contains("when         2027-01-15T08:00:00Z"))
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.key.spkiDER)
        #expect(run.output.contains("served       \(pin)") && run.output.contains("CN=Somebody's Proxy"))
        #expect(!run.output.contains("\u{1B}"))
        let json = try ToolRun("inspect", path, "--json").json()
        #expect(json["kind"]?.string == "report" && json["verified"]?.boolean == false)
        let first = try #require(json["reports"]?.elements.map(Array.init)?.first)
        #expect(first["report"]?["reason"]?.string == "pin-mismatch")
        #expect(first["servedPins"]?.elements?.map(\.string) == ["\(pin)"])
        #expect(first["validatedPins"]?.count == 2)
    }

    @Test("A report names the update of the policy or says that there was no update")
    func update() throws {
        func policyLine(_ version: Int) throws -> Substring? {
            let policy = try PinningPolicy {
                try PinnedHost(
                    "example.com", pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="], backup: .noneAccepted)
            }.numbered(version)
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            let evaluation = policy.evaluate(
                ServerEndpoint(host: try ServerName("example.com")), presented: identity.chain, at: now
            ) { _ in .valid(ValidatedPath(uncheckedLeafToAnchor: identity.chain)) }
            let failure = try #require(VerdictEvent(evaluation, by: policy, at: now))
            let path = try directory.write(try #require(TrustFailureReport(failure)).json(), to: "update.json")
            return ToolRun("inspect", path).lines.first { $0.hasPrefix("  policy ") }
        }
        #expect(try policyLine(0) == "  policy       as shipped, no update")
        #expect(try policyLine(7) == "  policy       update 7")
    }

    @Test("Inspect shows a report from a spool and does not take a file of approvals for a policy")
    func spooled() throws {
        let text = "{\"to\": [\"https://reports.test/\"], \"refused\": true, \"report\": "
        let path = try directory.write(text + String(decoding: report.json(), as: UTF8.self) + "}", to: "x.report")
        let run = ToolRun("inspect", path)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("what         pin-mismatch\n"))
        let store = directory.path(of: "trust.json")
        let approve = ToolRun(
            "trust", "approve", "nas.test", "--key", "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=", "--store",
            store)
        #expect(approve.code == 0)
        let refused = ToolRun("inspect", store)
        #expect(refused.code == 2)
        #expect(refused.errors.hasSuffix("pintle: hint: pintle trust list --store \(store)\n"))
    }

    @Test("The error about an incomplete report says that it lacks a member; a list of something else is not a report")
    func broken() throws {
        let text = String(decoding: report.json(), as: UTF8.self)
        let broken = try directory.write(text.replacing("\"hostname\"", with: "\"host\""), to: "broken.json")
        let run = ToolRun("inspect", broken)
        #expect(run.code == 2 && run.errors.contains("report 1 lacks a member"))
        let list = try directory.write(#"[{"type": "csp-violation", "body": {}}]"#, to: "list.json")
        #expect(ToolRun("inspect", list).code == 2)
        #expect(ToolRun("inspect", try directory.write(text, to: "good.json")).code == 0)
    }
}
