internal import Pintle
package import PintlePolicyFile
internal import PintleText

/// The reason why a command cannot go on: what happened, where, and what to do about it.
///
/// Verdicts are not errors: a rejected certificate is a result.
package struct ToolError: Error, Sendable {
    package var exitCode: ExitCode
    /// Stable, for scripts: `unknown-key`.
    package let code: String
    /// Lower case, no full stop.
    package var message: String
    package var file: String?
    /// Counted from 1.
    package var line: Int?
    package var column: Int?
    package var hint: String?
    /// The other errors, if several inputs were read.
    package var others: [ToolError]

    package init(
        exitCode: ExitCode, code: String, message: String, file: String? = nil, line: Int? = nil, column: Int? = nil,
        hint: String? = nil, others: [ToolError] = []
    ) {
        self.exitCode = exitCode
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint
        self.others = others
    }

    /// An input that cannot be used.
    package static func unusable(
        _ code: String, _ message: String, file: String? = nil, line: Int? = nil, column: Int? = nil,
        hint: String? = nil
    ) -> ToolError {
        ToolError(
            exitCode: .unusable, code: code, message: message, file: file, line: line, column: column, hint: hint)
    }

    /// A file that cannot be used, without its name. See ``placed(in:)``.
    package static func unusable(_ code: String, _ message: String, at place: TextPlace?, hint: String? = nil)
        -> ToolError
    {
        .unusable(code, message, line: place?.line, column: place?.column, hint: hint)
    }

    /// A command line that cannot be used.
    package static func usage(_ message: String, of command: Command?, code: String = "usage") -> ToolError {
        let help = command.map { "pintle help \($0.name)" } ?? "pintle help"
        return ToolError(exitCode: .unusable, code: code, message: message, hint: "see '\(help)'")
    }

    /// Returns several errors as one, or `nil` for none. An input that cannot be read sets the exit code even if a
    /// server cannot be reached either.
    package static func joining(_ errors: [ToolError]) -> ToolError? {
        guard var first = errors.first else { return nil }
        if errors.contains(where: { $0.exitCode == .unusable }) { first.exitCode = .unusable }
        first.others += errors.dropFirst()
        return first
    }

    /// Returns the error and the others with the name of the file.
    package func placed(in file: String) -> ToolError {
        var error = self
        error.file = file
        error.others = others.map { $0.placed(in: file) }
        return error
    }

    /// The error and the others.
    package var all: [ToolError] { [self] + others.flatMap(\.all) }

    /// Writes `"code", "message", "file"?, "line"?, "column"?, "hint"?`.
    package func write(to json: inout JSONWriter) {
        json.member("code", code)
        json.member("message", message)
        json.member("file", file)
        json.member("line", line)
        json.member("column", column)
        json.member("hint", advice)
    }

    /// The hint. A command in it names the file instead of the placeholder `FILE`.
    var advice: String? {
        guard let hint, let file, file != "stdin" else { return hint }
        return hint.replacing("-in FILE", with: "-in \(ShellWord.quoted(file))")
    }

    /// `file:line:column: message`, as compilers write it.
    var text: String {
        let place = [file, line.map(String.init), line == nil ? nil : column.map(String.init)].compactMap(\.self)
        return place.isEmpty ? message : place.joined(separator: ":") + ": " + message
    }
}
