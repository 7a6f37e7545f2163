import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

/// The plans of `Examples/plans`. Each locks out users on a known day, and its counterpart follows the advice and locks
/// out no user.
@Suite("Plans of the examples")
struct PlanExampleTests {
    struct Story: Sendable, CustomTestStringConvertible {
        let name: String
        let lockOuts: [String]
        let advice: [String]
        /// The beginning of the verdict in the text report.
        let sentence: String
        var testDescription: String { name }
    }

    static let stories = [
        Story(
            name: "same-key-renewed",
            lockOuts: [
                "2.1 from 2027-02-18T00:00:01Z until 2027-02-20T00:00:00Z invalid-path expired",
                "2.2 from 2027-02-18T00:00:01Z until 2027-02-20T00:00:00Z invalid-path expired",
            ], advice: ["renew"],
            sentence: "from 2027-02-18 until 2027-02-20, versions 2.1, 2.2 cannot connect"),
        Story(
            name: "new-key-with-backup",
            lockOuts: [
                "2.1 from 2027-02-01T00:00:00Z pin-mismatch",
                "2.2 from 2027-02-01T00:00:00Z pin-mismatch",
            ], advice: ["add-pin", "use-known-key", "no-later-switch", "no-update"],
            sentence: "from 2027-02-01, versions 2.1, 2.2 cannot connect to api.example.com"),
        Story(
            name: "another-ca", lockOuts: ["3.0 from 2027-03-03T00:00:00Z pin-mismatch"],
            advice: ["end-support", "use-known-key", "no-later-switch", "publish-update", "make-backup"],
            sentence: "from 2027-03-03, version 3.0 cannot connect to api.example.com"),
        Story(
            name: "key-compromise", lockOuts: ["1.9 from 2027-02-11T00:00:00Z pin-mismatch"],
            advice: ["end-support", "no-later-switch", "publish-update", "withdraw-pin", "make-backup"],
            sentence: "from 2027-02-11, version 1.9 cannot connect to api.example.com"),
        Story(
            name: "old-app",
            lockOuts: [
                "2.1 from 2027-03-01T00:00:00Z until 2027-09-01T00:00:00Z pin-mismatch",
                "2.2 from 2027-03-01T00:00:00Z until 2027-09-01T00:00:00Z pin-mismatch",
            ], advice: ["end-support", "use-known-key", "switch-later", "no-update", "make-backup"],
            sentence: "from 2027-03-01 until 2027-09-01, versions 2.1, 2.2 cannot connect to "
                + "api.example.com"),
        Story(
            name: "renewals", lockOuts: ["3.0 from 2027-03-03T00:00:00Z pin-mismatch"],
            advice: ["end-support", "use-known-key", "no-later-switch", "publish-update", "make-backup"],
            sentence:
                "from 2027-03-03, version 3.0 cannot connect to api.example.com if its certificate "
                + "comes from \"root B\""),
    ]

    private func outcome(_ name: String) throws -> PlanOutcome {
        let path = "\(PlanFixture.examples)/\(name).json"
        return try PlanOutcome(ToolRun("plan", path, "--json", "--at", "2026-11-20"))
    }

    @Test("Each plan reports its lock-out on the right day, with advice", arguments: stories)
    func lockOut(story: Story) throws {
        let outcome = try outcome(story.name)
        #expect(outcome.code == 1)
        #expect(outcome.lockOuts == story.lockOuts)
        #expect(outcome.advice == story.advice)
        let run = ToolRun(
            "plan", "\(PlanFixture.examples)/\(story.name).json", "--at", "2026-11-20", terminalWidth: 100)
        #expect(run.code == 1)
        let words = run.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(words.contains(story.sentence))
    }

    @Test("A plan that follows the advice locks no user out", arguments: stories)
    func followed(story: Story) throws {
        let outcome = try outcome(story.name + "-followed")
        #expect(outcome.code == 0)
        #expect(outcome.lockOuts == [])
    }

    @Test("The day is exact: a second before it, no user is locked out", arguments: stories)
    func boundary(story: Story) throws {
        let start = try RFC3339.date(from: String(try #require(story.lockOuts.first).split(separator: " ")[2]))
        let text = try String(
            decoding: readFile("\(PlanFixture.examples)/\(story.name).json"), as: UTF8.self)
        func code(until: Date) throws -> Int32 {
            let whole = #""until": "\#(RFC3339.string(from: until))""#
            let plan = try replacingUntil(of: text, by: whole).replacing(
                "policies/", with: "\(PlanFixture.examples)/policies/")
            return ToolRun("plan", "-", "--at", "2026-11-20", input: Array(plan.utf8)).code
        }
        #expect(try code(until: start) == 0)
        #expect(try code(until: start.addingTimeInterval(1)) == 1)
    }

    private func replacingUntil(of text: String, by other: String) throws -> String {
        let start = try #require(text.firstRange(of: "\"until\""))
        let end = try #require(text[start.upperBound...].firstIndex(of: ","))
        return text.replacingCharacters(start.lowerBound..<end, with: other)
    }

    private func readFile(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: path)))
    }

    @Test("The exposure by a stolen key ends with the update that withdraws it")
    func exposure() throws {
        func spans(_ name: String) throws -> [String] {
            let outcome = try outcome(name)
            return outcome.elements("exposures").map { item in
                [outcome.text(item, "key"), outcome.text(item, "from"), outcome.text(item, "until")]
                    .compactMap(\.self).joined(separator: " ")
            }
        }
        #expect(try spans("key-compromise") == ["current 2027-02-10T00:00:00Z 2027-05-01T00:00:01Z"])
        #expect(try spans("key-compromise-followed") == ["current 2027-02-10T00:00:00Z 2027-02-13T00:00:00Z"])
    }

    @Test("A key can be switched on the day from which no supported version lacks it")
    func laterSwitch() throws {
        let outcome = try outcome("old-app")
        let item = try #require(outcome.elements("advice").first { outcome.text($0, "id") == "switch-later" })
        #expect(outcome.text(item, "by") == "2027-09-01T00:00:00Z")
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<Index>, with other: String) -> String {
        String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }
}
