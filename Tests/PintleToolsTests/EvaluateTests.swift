import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Evaluation of batches")
struct EvaluateTests {
    let authority: PintleTestKit.CertificateAuthority
    let identity: Identity

    init() throws {
        authority = try CertificateAuthority.root()
        identity = try authority.intermediate().issue(hosts: ["example.test"])
    }

    private var pin: String {
        get throws { try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description }
    }

    /// Returns a case with these members in JSON; `nil` leaves out a member.
    private func line(_ changes: [String: String?] = [:]) -> String {
        func list(_ certificates: [[UInt8]]) -> String {
            "[" + certificates.map { JSONWriter.quoted(PEM.encode($0)) }.joined(separator: ",") + "]"
        }
        var members: [(String, String?)] = [
            ("id", "1"), ("host", "\"example.test\""), ("chain", list(identity.chain)),
            ("anchors", list([authority.certificate.der])),
        ]
        for (key, value) in changes.sorted(by: { $0.key < $1.key }) {
            members.removeAll { $0.0 == key }
            members.append((key, value))
        }
        return "{" + members.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }.joined(separator: ",") + "}"
    }

    private func run(_ lines: String...) -> ToolRun {
        ToolRun("evaluate", "--batch", input: Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    private func answers(_ run: ToolRun) throws -> [JSONValue] {
        try run.output.split(separator: "\n").map { try JSONDocument(Array($0.utf8)).root }
    }

    @Test("A valid chain without a policy is host-not-pinned, and the answer has only the keys of the contract")
    func pathOnly() {
        let run = run(line())
        #expect(run.code == 0)
        #expect(run.output == "{\"id\":1,\"decision\":\"trusted\",\"reason\":\"host-not-pinned\"}\n")
        #expect(run.errors.isEmpty)
    }

    @Test("An answer repeats the id as it was written, whatever its scalar type")
    func ids() throws {
        let ids = ["\"a\\u00e9\\n\"", "-0", "1.50", "1e400", "123456789012345678901234567890", "true", "null", "\"\""]
        for id in ids {
            let run = run(line(["id": id]))
            #expect(run.code == 0)
            #expect(run.output.hasPrefix("{\"id\":\(id),\"decision\":"), "\(id)")
        }
    }

    @Test("A matching pin or backup is named with its depth; another key is a mismatch")
    func pins() throws {
        let other = "\"sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=\""
        func policy(_ pins: String, _ backups: String) -> String {
            "{\"version\":1,\"hosts\":[{\"host\":\"example.test\",\"pins\":[\(pins)],\"backupPins\":[\(backups)]}]}"
        }
        let root = try PublicKeyPin(subjectPublicKeyInfo: authority.certificate.spkiDER)
        let run = run(
            line(["policy": policy("\"\(try pin)\"", other)]), line(["policy": policy("\"\(root)\"", other)]),
            line(["policy": policy(other, "\"\(try pin)\"")]),
            line(["policy": policy(other, "\"sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=\"")]))
        #expect(run.code == 0)
        let answers = try answers(run)
        #expect(ToolRun.keys(answers[0]) == ["id", "decision", "reason", "matchedPin", "depth"])
        #expect(answers.map { $0["reason"]?.string } == ["pin-matched", "pin-matched", "pin-matched", "pin-mismatch"])
        #expect(answers.map { $0["depth"]?.integer } == [0, 2, 0, nil])
        #expect(answers[1]["matchedPin"]?.string == root.description)
        #expect(answers[2]["isBackup"]?.boolean == true)
        #expect(answers[3]["decision"]?.string == "rejected")
    }

    @Test("Anchors replace the system's roots, and an empty list means no anchors")
    func anchors() throws {
        let stranger = try CertificateAuthority.root()
        let run = run(
            line(["anchors": "[]"]), line(["anchors": "[\(JSONWriter.quoted(stranger.certificate.pem))]"]),
            line(["anchors": nil]), line(["anchors": "null"]), line())
        #expect(run.code == 0)
        let answers = try answers(run)
        #expect(answers.map { $0["decision"]?.string } == ["rejected", "rejected", "rejected", "rejected", "trusted"])
        #expect(answers[0]["pathFailure"]?.string == "untrusted-root")
        #expect(ToolRun.keys(answers[0]).prefix(5) == ["id", "decision", "reason", "pathFailure", "raw"])
    }

    @Test("A policy may hold only integers, although a line may hold any numbers", arguments: ["1.0", "1e0", "1e400"])
    func numbers(version: String) throws {
        let policy = "{\"version\":\(version),\"hosts\":[]}"
        let run = run(line(["policy": policy]))
        #expect(run.code == 2)
        let answer = try #require(try answers(run).first)
        #expect(answer["error"]?["code"]?.string == "non-integer-number")
        #expect(self.run(line(["policy": policy.replacing(version, with: "1")])).code == 0)
    }

    @Test("The decision is for the time of the case")
    func instant() throws {
        let run = run(
            line(["at": "\"2001-01-01T00:00:00Z\""]), line(["at": "\"2101-01-01T01:00:00+01:00\""]))
        #expect(try answers(run).map { $0["pathFailure"]?.string } == ["not-yet-valid", "expired"])
    }

    @Test("A chain that cannot be judged gets a verdict, not an error")
    func verdictsOnBrokenChains() throws {
        let garbage = JSONWriter.quoted(PEM.encode([1, 2, 3]))
        let good = JSONWriter.quoted(identity.certificate.pem)
        let intermediate = JSONWriter.quoted(PEM.encode(identity.chain[1]))
        let run = run(
            line(["chain": "[]"]), line(["chain": "[\(garbage)]"]),
            line(["chain": "[\(good),\(garbage),\(intermediate)]"]),
            line(["chain": "[" + Array(repeating: garbage, count: 129).joined(separator: ",") + "]"]),
            line(["chain": "[\(JSONWriter.quoted(PEM.encode([UInt8](repeating: 0x30, count: 300_000))))]"]))
        #expect(run.code == 0)
        let failures = try answers(run).map { $0["pathFailure"]?.string }
        #expect(failures == ["empty-chain", "malformed-certificate", nil, "limits-exceeded", "limits-exceeded"])
    }

    @Test(
        "A line that cannot be read gets an error with its id, if it has one, and the other lines are still judged",
        arguments: [
            ("{", nil, "unexpected-end"), ("[]", nil, "wrong-type"), ("1", nil, "wrong-type"),
            ("{\"id\":1} x", nil, "trailing-content"),
            ("{\"id\":7}", "7", "missing-key"), ("{\"host\":\"a\"}", nil, "missing-key"),
            ("{\"id\":7,\"host\":\"example.test\"}", "7", "missing-key"),
            ("{\"id\":7,\"id\":8,\"host\":\"example.test\",\"chain\":[]}", nil, "duplicate-key"),
            ("{\"id\":7,\"host\":\"example.test\",\"chain\":[],\"anchor\":[]}", "7", "unknown-key"),
            ("{\"id\":[7],\"host\":\"example.test\",\"chain\":[]}", nil, "wrong-type"),
            ("{\"id\":7,\"host\":\"bücher.test\",\"chain\":[]}", "7", "invalid-host"),
            ("{\"id\":7,\"host\":\"*.test\",\"chain\":[]}", "7", "invalid-host"),
            ("{\"id\":7,\"host\":\"127.1\",\"chain\":[]}", "7", "invalid-host"),
            ("{\"id\":7,\"host\":5,\"chain\":[]}", "7", "wrong-type"),
            ("{\"id\":7,\"host\":\"a.test\",\"port\":0,\"chain\":[]}", "7", "invalid-port"),
            ("{\"id\":7,\"host\":\"a.test\",\"port\":\"443\",\"chain\":[]}", "7", "invalid-port"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":\"x\"}", "7", "wrong-type"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[\"not PEM\"]}", "7", "malformed-pem"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[1]}", "7", "wrong-type"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[],\"anchors\":[\"x\"]}", "7", "malformed-pem"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[],\"at\":\"2026-02-30T00:00:00Z\"}", "7", "invalid-date"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[],\"at\":1}", "7", "wrong-type"),
            ("{\"id\":7,\"host\":\"a.test\",\"chain\":[],\"policy\":{}}", "7", "missing-key"),
            (
                "{\"id\":7,\"host\":\"a.test\",\"chain\":[],\"policy\":{\"version\":1,\"hosts\":[{\"host\":\"a.test\","
                    + "\"anchors\":{\"include\":[\"/etc/passwd\"]}}]}}", "7", "anchor-file-not-allowed"
            ),
        ])
    func badLines(line text: String, id: String?, code: String) throws {
        let run = run(line(["id": "1"]), text, line(["id": "2"]))
        #expect(run.code == 2)
        let answers = try answers(run)
        try #require(answers.count == 3)
        #expect(answers[0]["decision"]?.string == "trusted")
        #expect(answers[2]["id"]?.integer == 2)
        #expect(answers[2]["decision"]?.string == "trusted")
        #expect(ToolRun.keys(answers[1]) == ["id", "error"])
        #expect(String(decoding: answers[1]["id"]?.source ?? [], as: UTF8.self) == id ?? "null")
        #expect(answers[1]["error"]?["code"]?.string == code)
        #expect(answers[1]["error"]?["line"]?.integer == 2)
    }

    @Test("Empty lines are ignored, and the last line needs no line break")
    func emptyLines() throws {
        let run = ToolRun("evaluate", "--batch", input: Array("\n\r\n  \n\(line())".utf8))
        #expect(run.code == 0)
        #expect(try answers(run).count == 1)
        #expect(ToolRun("evaluate", "--batch").code == 0)
    }

    @Test("A line that is too long gets its own error, and the next lines are read")
    func longLine() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 33 << 20)
        let run = ToolRun("evaluate", "--batch", input: long + [0x0A] + Array(line().utf8))
        #expect(run.code == 2)
        let answers = try answers(run)
        #expect(answers[0]["error"]?["code"]?.string == "line-too-long")
        #expect(answers[0]["id"]?.isNull == true)
        #expect(answers[1]["decision"]?.string == "trusted")
    }

    @Test("Without --batch the error names the option")
    func withoutBatch() {
        #expect(ToolRun("evaluate").code == 2)
    }
}
