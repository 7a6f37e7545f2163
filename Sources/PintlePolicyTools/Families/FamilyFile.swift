internal import Pintle
package import PintleConsole
package import PintlePolicyLint
internal import PintleSystem
internal import PintleText

/// The families that a command works with: the built-in file, or a newer one of `--families`.
package struct FamilyFile {
    package let families: AuthorityFamilies
    /// The path of the file; `nil` for the built-in one.
    let path: String?
    /// The roots that the built-in file lacks or lists in another family; empty for the built-in file.
    let additions: Set<PublicKeyPin>
    /// The built-in families, if they are others.
    private let builtIn: AuthorityFamilies?

    private init(_ families: AuthorityFamilies, path: String? = nil, besides builtIn: AuthorityFamilies? = nil) {
        self.families = families
        self.path = path
        self.builtIn = builtIn
        additions = builtIn.map(families.pins(missingIn:)) ?? []
    }

    /// Reads the file that is built into the tool.
    static func builtIn() throws(ToolError) -> FamilyFile {
        FamilyFile(try ToolError.translating(FamilyFileReader.builtIn))
    }

    /// Reads the file of `--families`, or else the built-in one.
    ///
    /// - Throws: every problem of the file; an error if it is older than the built-in one.
    package static func read(_ invocation: Invocation) throws(ToolError) -> FamilyFile {
        let builtIn = try builtIn()
        guard let path = invocation.arguments[.families] else { return builtIn }
        let file = try invocation.file(path, limit: FamilyLimits.fileSize)
        let families = try families(file.bytes, file: file.name)
        guard families.date >= builtIn.families.date else {
            throw .unusable(
                "older-families",
                "the file is of \(ValidityText.day(families.date)), and the built-in one of "
                    + ValidityText.day(builtIn.families.date),
                file: file.name, hint: "leave --families out, or get a newer file")
        }
        guard families.date <= invocation.now.addingTimeInterval(86_400) else {
            throw .unusable(
                "future-families", "the file is of \(ValidityText.day(families.date)), which has not come yet",
                file: file.name, hint: "write the day on which its sources were read")
        }
        return FamilyFile(families, path: path, besides: builtIn.families)
    }

    /// Reads a file of families.
    static func families(_ bytes: [UInt8], file: String) throws(ToolError) -> AuthorityFamilies {
        try ToolError.translating { () throws(ValueProblems) in try FamilyFileReader.read(bytes, file: file) }
    }

    /// Returns the roots that the built-in file has in a family, and this file does not.
    func omissions(in family: AuthorityFamily) -> [AuthorityFamily.Member] {
        let known = builtIn?.families.first { $0.id == family.id }?.roots ?? []
        return known.filter { root in root.pin.map { !family.pins.contains($0) } ?? false }
    }

    /// `built in, of 2026-11-23`; `families.json, of 2027-02-01`
    var name: String { "\(path ?? "built in"), of \(ValidityText.day(families.date))" }

    /// The warning about a file that is more than a year old.
    package var age: String {
        "the authority families are more than a year old (\(name)): authorities may have new roots; update pintle, or "
            + "give a newer file: --families FILE"
    }

    /// Returns the families of the authority or edge that the command line names.
    func selection(named word: String, of command: Command) throws(ToolError) -> AuthorityFamilies.Selection {
        if let selection = families.selection(named: word) { return selection }
        let known = families.ids
        let nearest = Spelling.suggestion(for: word.lowercased(), among: known)
        throw .usage(
            "\"\(word)\" is not an authority of the families\(nearest) (known: \(known.joined(separator: ", ")))",
            of: command, code: "unknown-authority")
    }
}

extension OptionSpecification {
    package static let families = Option(
        "families", .file("FILE"),
        help: "A newer list of the roots of each certificate authority, in the form of the built-in one")
}

extension ToolError {
    /// Runs a reader of a file, and throws its mistakes as an error of the tool.
    static func translating<Content>(_ read: () throws(ValueProblems) -> Content) throws(ToolError) -> Content {
        do throws(ValueProblems) {
            return try read()
        } catch {
            let errors = error.all.map { problem in
                ToolError.unusable(
                    problem.id, problem.message, file: problem.file, line: problem.line, column: problem.column,
                    hint: problem.help)
            }
            throw .joining(errors) ?? .unusable("unusable-file", "the file cannot be used")
        }
    }
}
