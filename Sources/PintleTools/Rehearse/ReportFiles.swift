internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText

/// The files about a finished rehearsal or survey.
struct ReportFiles {
    let page: ReportPage
    let junit: JUnitReport
    let sarif: SARIFReport

    /// The files that were written.
    struct Written {
        /// A line about each file.
        fileprivate(set) var lines: [String] = []
        /// The error that ended the writing.
        fileprivate var failure: ToolError?

        /// Returns the exit code of the run after its results were printed. A file that cannot be written does not cost
        /// any output.
        ///
        /// - Parameter hasDocument: `true` if standard output has only a document.
        func end(_ exitCode: ExitCode, hasDocument: Bool, _ console: Console) throws(ToolError) -> ExitCode {
            guard let failure else { return exitCode }
            guard hasDocument else { throw failure }
            // Standard output already has its one document.
            console.printMessage("pintle: error: " + SafeText.escape("\(failure.file ?? ""): \(failure.message)"))
            return .unusable
        }
    }

    /// Writes the files that the user wants.
    ///
    /// - Parameter first: writes another file before them and returns the line about it, or `nil`.
    func write(
        _ arguments: ParsedArguments, now: Date, after first: () throws(ToolError) -> String?
    ) -> Written {
        var written = Written()
        do throws(ToolError) {
            if let line = try first() { written.lines.append(line) }
            if let path = arguments[.rehearsalPage] {
                try ReportHTML(page, date: now).write(to: path)
                written.lines.append("report: \(path)")
            }
            if let path = arguments[.rehearsalJUnit] {
                try junit.write(to: path)
                written.lines.append("junit: \(path)")
            }
            if let path = arguments[.rehearsalSARIF] {
                try sarif.write(to: path)
                written.lines.append("sarif: \(path)")
            }
        } catch {
            written.failure = error
        }
        return written
    }
}
