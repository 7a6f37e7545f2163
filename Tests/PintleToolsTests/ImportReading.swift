import FoundationEssentials
import Pintle
import Testing

@testable import PintleConsole
@testable import PintlePolicyTools

/// Helpers for the tests of imports that use a format's reader.
protocol ImportReading {}

extension ImportReading {
    static var hash: String { "bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=" }
    static var other: String { "IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=" }

    func draft(_ text: String, _ format: ForeignFormat) throws -> ImportDraft {
        try ImportCommand.read(Array(text.utf8), as: format, files: .none)
    }

    /// Returns the place and the reason of a refusal: `3:12 unknown-element`.
    func refusal(_ text: String, _ format: ForeignFormat) throws -> String {
        do throws(ToolError) {
            let draft = try ImportCommand.read(Array(text.utf8), as: format, files: .none)
            let policy = try draft.policy()
            return "read as \(policy.hosts.count) rules"
        } catch {
            return "\(error.line.map { "\($0):\(error.column ?? 0) " } ?? "")\(error.code)"
        }
    }

    /// Returns the losses besides the one of backups: `weaker tls-settings example.test`.
    func losses(_ text: String, _ format: ForeignFormat) throws -> [String] {
        try draft(text, format).losses.losses.filter { $0.kind != .backups }.map {
            (["\($0.effect)", $0.kind.rawValue] + $0.hosts).joined(separator: " ")
        }
    }

    func check(_ text: String, _ format: ForeignFormat, _ changes: [(old: String, new: String, error: String)])
        throws
    {
        #expect(try refusal(text, format) == "read as 1 rules")
        for (old, new, error) in changes {
            let changed = text.replacing(old, with: new)
            #expect(changed != text, "\(old)")
            let actual = try refusal(changed, format)
            #expect(actual == error, "\(new)")
        }
    }
}
