import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleTools

/// Names of the code that the articles must explain. Messages of the tool link to some of them.
@Suite("Names in the articles")
struct DocumentedNameTests {
    /// Returns the lines of a file of the repository.
    private func lines(_ path: String) throws -> [Substring] {
        String(decoding: try Recipes.file(path), as: UTF8.self).split(separator: "\n")
    }

    /// Returns the texts of an article's headings.
    private func headings(_ article: String) throws -> Set<Substring> {
        let headings = try lines("Sources/Pintle/Pintle.docc/\(article)").filter { $0.hasPrefix("#") }
        return Set(headings.map { $0.drop { $0 == "#" }.dropFirst() })
    }

    @Test("Each problem of a policy and each path failure has a heading")
    func explained() throws {
        let problems = try headings("PolicyProblems.md")
        for id in ProblemIDs.errors + ProblemIDs.warnings { #expect(problems.contains(Substring(id)), "\(id)") }
        let failures = try headings("Decisions.md")
        for code in PathFailure.Code.allCases {
            #expect(failures.contains(Substring(code.rawValue)), "\(code.rawValue)")
        }
    }

    @Test("Each reason of a decision has a row")
    func reasons() throws {
        let rows = try lines("Sources/Pintle/Pintle.docc/Decisions.md")
        for reason in TrustDecision.Reason.allCases {
            #expect(rows.contains { $0.hasPrefix("| `\(reason.rawValue)` |") }, "\(reason.rawValue)")
        }
    }

    @Test("Each loss of an export has a row")
    func losses() throws {
        let rows = try lines("Sources/PintleTools/PintleTools.docc/Exports.md")
        for kind in PolicyLoss.Kind.allCases {
            #expect(rows.contains { $0.hasPrefix("| `\(kind.rawValue)` |") }, "\(kind.rawValue)")
        }
    }

    @Test("The article about policy files and their schema name each key")
    func keys() throws {
        func spellings<Key: PolicyFileKey>(_ type: Key.Type) -> [String] { type.allCases.map(\.rawValue) }
        let keys =
            spellings(PolicyFileKeys.Policy.self) + spellings(PolicyFileKeys.Updates.self)
            + spellings(PolicyFileKeys.Pin.self) + spellings(PolicyFileKeys.Expiry.self)
            + spellings(PolicyFileKeys.Anchors.self) + spellings(PolicyFileKeys.Rule.self)
        let article = try lines("Sources/Pintle/Pintle.docc/PolicyFile.md").joined(separator: "\n")
        let schema = try lines("Examples/policy.schema.json").joined(separator: "\n")
        for key in keys {
            #expect(["`\(key)`", "\"\(key)\"", "### \(key)"].contains { article.contains($0) }, "\(key)")
            #expect(schema.contains("\"\(key)\""), "\(key)")
        }
    }
}
