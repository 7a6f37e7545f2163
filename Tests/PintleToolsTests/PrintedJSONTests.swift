import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// The JSON that the README, the articles and the examples print. A policy passes `pintle lint`, a plan `pintle plan`,
/// a store `pintle trust list`. A line `<!-- shows: WORD -->` above a block says that its command finds that problem,
/// or has that verdict.
@Suite("JSON in the documentation")
struct PrintedJSONTests {
    struct Block: CustomTestStringConvertible {
        let file: String
        let line: Int
        let text: String
        /// The word of the mark.
        let shows: String?
        var testDescription: String { "\(file):\(line)" }
    }

    /// The kind of a block, by a member that only this kind has.
    private enum Kind: String, CaseIterable {
        case policy = "hosts"
        case rule = "host"
        case plan = "apps"
        case renewal = "renews"
        case store = "approvals"
        case update = "policy"
        /// A signed update. Its payload is a placeholder, and UpdateInteropTests signs a real one.
        case envelope = "payload"
        /// A part of what `pintle lint --json` writes. Its tests have the whole.
        case lintOutput = "fragility"
    }

    private static let now = try? RFC3339.date(from: "2026-11-20T12:00:00Z")

    private static var files: [String] {
        func names(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: "\(Recipes.root)/\(folder)").sorted()) ?? []
        }
        let articles = names("Sources").flatMap { module in
            names("Sources/\(module)/\(module).docc").map { "Sources/\(module)/\(module).docc/\($0)" }
        }
        let examples = names("Examples").map { "Examples/\($0)/README.md" }.filter(Recipes.holds)
        let specification = names("Specification").map { "Specification/\($0)" }
        let pages = (articles + specification).filter { $0.hasSuffix(".md") }
        return ["README.md", "Examples/README.md"] + pages + examples
    }

    static let blocks: [Block] = {
        files.flatMap { file -> [Block] in
            let lines = ((try? Recipes.file(file)).map { String(decoding: $0, as: UTF8.self) } ?? "")
                .split(separator: "\n", omittingEmptySubsequences: false)
            return lines.indices.filter { lines[$0] == "```json" }.map { start in
                let mark = start == 0 ? nil : try? /<!-- shows: (.*) -->/.wholeMatch(in: lines[start - 1])?.1
                return Block(
                    file: file, line: start + 1,
                    text: lines[(start + 1)...].prefix { $0 != "```" }.joined(separator: "\n"),
                    shows: mark.map(String.init))
            }
        }
    }()

    @Test("There is JSON of each kind")
    func kinds() throws {
        let found = try Self.blocks.map { try Self.kind($0).rawValue }
        #expect(Set(found) == Set(Kind.allCases.map(\.rawValue)))
    }

    @Test("Printed JSON passes its own command, or fails as its mark says", arguments: blocks)
    func passes(block: Block) throws {
        let now = try #require(Self.now)
        switch try Self.kind(block) {
        case .policy: try lint(block.text, block)
        case .rule: try lint("{\"version\": 1, \"hosts\": [\(block.text)]}", block)
        case .update:
            let member = try #require(block.text.firstRange(of: "\"policy\": "))
            try lint(String(block.text[member.upperBound...].dropLast()), block)
        case .plan: plan(block.text, block)
        case .renewal:
            // The fragment stands in a server of a plan that has its keys.
            let plan = String(decoding: try Recipes.file("Examples/plans/renewals-followed.json"), as: UTF8.self)
            let renewal = try #require(plan.firstMatch(of: /"renews": \{[^}]*\}/))
            self.plan(plan.replacing(renewal.0, with: block.text), block)
        case .store:
            let directory = try TemporaryDirectory()
            let run = ToolRun(
                "trust", "list", "--store", try directory.write(block.text, to: "trust.json"), now: now)
            #expect(run.code == 0, "\(run.output)\(run.errors)")
        case .envelope, .lintOutput: #expect(block.shows == nil)
        }
    }

    private static func kind(_ block: Block) throws -> Kind {
        let isWhole = block.text.hasPrefix("{")
        let root = try JSONDocument(Array((isWhole ? block.text : "{\(block.text)}").utf8)).root
        let names = Set(root.members?.compactMap(\.key.string) ?? [])
        return try #require(
            Kind.allCases.first { names.contains($0.rawValue) }, "\(block.testDescription): JSON of no known kind")
    }

    private func lint(_ text: String, _ block: Block) throws {
        let directory = try TemporaryDirectory()
        let root = try CertificateAuthority.root().certificate.pem
        for file in ["root.pem", "roots/private.pem"] { try directory.write(root, to: file) }
        let run = ToolRun(
            "lint", try directory.write(text, to: "policy.json"), "--json", now: try #require(Self.now))
        let problems = try JSONDocument(Array(run.output.utf8)).root["problems"]?.elements.map(Array.init) ?? []
        // The pins of the documentation belong to no server.
        let ids = Set(problems.compactMap { $0["id"]?.string }).subtracting(["placeholder-pin"])
        #expect(ids == Set(block.shows.map { [$0] } ?? []), "\(run.output)\(run.errors)")
    }

    private func plan(_ text: String, _ block: Block) {
        let plan = text.replacing("policies/", with: "\(PlanFixture.examples)/policies/")
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(plan.utf8))
        #expect(run.output.hasPrefix("\(block.shows ?? "ok") "), "\(run.output)\(run.errors)")
    }
}
