internal import Pintle
package import PintlePolicyFile
internal import PintleText

/// The tool's two streams: data and the verdict go to standard output, messages to standard error.
///
/// Used on one thread.
package final class Console {
    package let palette: Palette
    /// The columns that prose fills at most: the terminal's, up to 100. 80 without a terminal.
    package let width: Int
    /// The columns that a table fills at most: the terminal's, up to 160. 80 without a terminal.
    private let tableWidth: Int
    /// `…`, or three dots where the locale is not UTF-8.
    private let ellipsis: String
    /// A Boolean value that indicates whether errors are also written to standard output, as a document.
    private let writesJSON: Bool
    private let output: ByteSink
    private let errors: ByteSink
    /// For standard error.
    package let talk: Palette
    /// A Boolean value that indicates whether standard error is a terminal.
    package var showsMessagesToPerson: Bool { errors.isTerminal }
    /// A Boolean value that indicates whether standard output is lost: a full disk must not look like success.
    package private(set) var outputFailed = false
    private var warnings: Set<String> = []

    init(output: ByteSink, errors: ByteSink, environment: [String: String], color: Bool, json: Bool) {
        self.output = output
        self.errors = errors
        writesJSON = json
        palette = Palette(for: output, environment: environment, isWanted: color)
        talk = Palette(for: errors, environment: environment, isWanted: color)
        // A value that is no number of columns, such as 0, counts as not set.
        let named = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        let columns = output.isTerminal ? max(40, named ?? output.width ?? 80) : 80
        width = min(columns, 100)
        tableWidth = min(columns, 160)
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let encoding = locale?.uppercased() ?? ""
        ellipsis = encoding.contains("UTF-8") || encoding.contains("UTF8") ? "…" : "..."
    }

    /// Writes a line of data to standard output.
    package func print(_ line: String = "") {
        write(Array((line + "\n").utf8))
    }

    /// Prints a report to standard output.
    ///
    /// - Parameter isVerbose: shows names in full.
    package func print(_ report: Report, isVerbose: Bool = false) {
        for line in reportText(palette, isVerbose).lines(of: report) { print(line) }
    }

    /// Prints a report to standard error.
    package func printMessage(_ report: Report) {
        for line in reportText(talk, false).lines(of: report) { printMessage(line) }
    }

    private func reportText(_ palette: Palette, _ isVerbose: Bool) -> ReportText {
        // A pipe gets longer excerpts, because a cut line loses more there than a long one. A server's row is one line
        // there.
        ReportText(
            width: width, tableWidth: tableWidth, recordWidth: output.isTerminal ? tableWidth : .max,
            excerptWidth: output.isTerminal ? width : 160, ellipsis: ellipsis, palette: palette, isVerbose: isVerbose)
    }

    package func print(_ document: JSONWriter) {
        write(document.bytes)
        write([UInt8(ascii: "\n")])
    }

    package func write(_ bytes: [UInt8]) {
        if !outputFailed { outputFailed = !output.write(bytes) }
    }

    /// Writes a line to standard error: advice, a warning or an error.
    package func printMessage(_ line: String = "") {
        _ = errors.write(Array((line + "\n").utf8))
    }

    /// Writes to standard error without an end of line: a question, or progress that is drawn over.
    package func prompt(_ text: String) {
        _ = errors.write(Array(text.utf8))
    }

    package func hint(_ message: String) {
        printMessage("pintle: hint: " + SafeText.escape(message))
    }

    package func warn(_ message: String) {
        printMessage("pintle: " + talk.warning("warning:") + " " + SafeText.escape(message))
    }

    /// Warns of something that concerns the whole run, however many servers meet it.
    package func warnOnce(_ message: String) {
        if warnings.insert(message).inserted { warn(message) }
    }

    /// Writes an error and the others that came with it.
    func report(_ error: ToolError) {
        if writesJSON { print(Self.document(error)) }
        for error in error.all {
            printMessage("pintle: " + talk.bad("error:") + " " + SafeText.escape(error.text))
            if let text = error.advice { hint(text) }
        }
    }

    /// `{"error": {"code", "message", "file"?, "line"?, "column"?, "hint"?}}`; several errors are also listed
    /// as `errors`.
    private static func document(_ error: ToolError) -> JSONWriter {
        .document { json in
            json.object("error", error.write)
            guard error.all.count > 1 else { return }
            json.objects("errors", error.all) { $1.write(to: &$0) }
        }
    }
}

/// The colours of one stream. Text stays as it is if the stream is no terminal or the user has turned colours off.
package struct Palette: Sendable {
    let isColored: Bool

    /// Colours a good result: trusted, or blocked as it must be.
    package func good(_ text: String) -> String { wrap(text, "32") }
    /// Colours a bad result: rejected, let through, an error.
    package func bad(_ text: String) -> String { wrap(text, "31") }
    /// Colours a warning, and a server that was accepted and reported.
    package func warning(_ text: String) -> String { wrap(text, "33") }
    /// Makes the pin that matched bold.
    func strong(_ text: String) -> String { wrap(text, "1") }
    /// Dims times, paths and serial numbers.
    func dim(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: StaticString) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// - Parameter isWanted: `false` if the command line turns colours off.
    init(for sink: ByteSink, environment: [String: String], isWanted: Bool) {
        let isRefused = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        isColored = sink.isTerminal && isWanted && !isRefused
    }
}
